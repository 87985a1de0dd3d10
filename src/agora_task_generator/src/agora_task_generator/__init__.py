"""The task generator node: episodes with task modes for robots, obstacles and modules."""
