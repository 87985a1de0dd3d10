"""Limits, the difficulty at which a planner still succeeds half the time: their measurement, words, charts and tables."""
