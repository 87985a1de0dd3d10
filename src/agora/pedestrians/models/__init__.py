"""Crowd models, one module each: a model maps the state of a crowd to accelerations or velocities."""
