"""Crowd models: one module for each, from the state of a crowd to accelerations or velocities."""
