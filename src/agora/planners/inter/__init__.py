"""Interplanners: from a path to a path, between the global and the local planner."""
