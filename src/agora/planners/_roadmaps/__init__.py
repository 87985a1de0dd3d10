"""Roadmaps of the poses of a legged robot, for the global and the local planner named ``artplanner``."""
