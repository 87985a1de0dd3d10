"""Modules, one per file."""
