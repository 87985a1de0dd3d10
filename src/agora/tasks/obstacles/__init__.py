"""Obstacles modes, one per file."""
