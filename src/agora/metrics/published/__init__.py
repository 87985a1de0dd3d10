"""Metrics as the code of one publication computes them, if they differ from Agora's: only to reproduce its published tables."""
