"""Interplanners: planners between the global and the local planner, which turn one path into another path."""
