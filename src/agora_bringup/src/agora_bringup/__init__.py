"""Starts the graph and displays it."""
