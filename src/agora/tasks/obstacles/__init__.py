"""Obstacles modes: one file each."""
