"""Starts the ROS graph and displays it."""
