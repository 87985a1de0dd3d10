"""Predictors: places where pedestrians will be."""
