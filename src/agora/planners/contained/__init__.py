"""Planners in files of Python, each in a process of its own that reaches little else."""
