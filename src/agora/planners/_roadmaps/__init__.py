"""Roadmaps of the poses of a legged robot, for both planners that are called ``artplanner``."""
