"""Benchmark and training runs: their queue, the workers that execute them, and their results."""
