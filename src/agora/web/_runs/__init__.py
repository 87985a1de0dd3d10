"""Runs of benchmarks and trainings: their queue, the workers that execute them, and their results."""
