"""Runs of benchmarks and trainings: their queue, the workers that take them out of it, and their results."""
