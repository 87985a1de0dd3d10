"""Global planners: from a map to a path."""
