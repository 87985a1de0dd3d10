"""Predictors of the future positions of pedestrians."""
