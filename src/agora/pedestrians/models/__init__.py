"""Crowd models, each in its own module. A model computes accelerations or velocities from the state of a crowd."""
