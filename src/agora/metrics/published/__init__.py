"""Metrics as the code of one publication computes them, where they differ from ours: for its published tables alone."""
