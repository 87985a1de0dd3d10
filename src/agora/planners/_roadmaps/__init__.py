"""Roadmaps of poses for legged robots, for the global and the local planner named ``artplanner``."""
