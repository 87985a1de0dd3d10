"""Planners from Python files, each confined to its own process."""
