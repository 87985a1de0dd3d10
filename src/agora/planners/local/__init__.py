"""Local planners: observation to twist."""
