"""Global planners: they compute a path from a map, a start and a goal."""
