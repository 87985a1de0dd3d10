"""Global planners: map to path."""
