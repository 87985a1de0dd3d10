"""Limits, i.e. the difficulties up to which planners succeed at least half the time: measurement, text, charts and tables."""
