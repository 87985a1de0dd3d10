"""Robots modes, one per file."""
