"""Planners: one file each."""
