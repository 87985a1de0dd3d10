"""Global planners: from a map, a start and a goal to a path."""
