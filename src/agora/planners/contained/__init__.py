"""Planners from Python files, each confined to a process of its own."""
