"""Channels: robots' sensors and everything else that a planner perceives, one module per channel."""
