"""Metrics: pure functions of a recorded episode."""
