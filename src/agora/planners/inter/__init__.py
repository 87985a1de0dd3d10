"""Interplanners: path to path between the global and the local planner."""
