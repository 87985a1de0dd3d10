"""Modules: one file each."""
