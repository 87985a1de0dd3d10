"""Limits: the difficulty at which a planner still succeeds half the time, measured, in words, drawn, and as a table."""
