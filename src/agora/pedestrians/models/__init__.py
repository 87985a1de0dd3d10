"""Crowd models, in one module each. A model maps the state of a crowd to accelerations or velocities."""
