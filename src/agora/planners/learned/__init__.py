"""Planners that drive with trained policies."""
