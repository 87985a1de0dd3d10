"""The task generator node, which creates episodes from task modes for robots and obstacles, and from modules."""
