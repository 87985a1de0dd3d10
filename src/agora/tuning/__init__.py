"""Tuning: searches for better parameters of a planner, and checks them on a suite that was not used in the search."""
