"""Tuning: the search for better parameters of a planner, and its check on a suite that the search never saw."""
