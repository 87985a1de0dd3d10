"""Simulators behind ROS: one file each."""
