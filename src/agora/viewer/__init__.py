"""Replay, plots, video."""
