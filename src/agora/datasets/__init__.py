"""Loaders of real data."""
