"""Channels: the sensors of robots and everything else that a planner perceives, one module for each."""
