"""Robots modes: one file each."""
