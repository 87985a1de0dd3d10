"""Local planners that drive with trained policies."""
