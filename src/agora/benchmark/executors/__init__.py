"""Executors: one file each."""
