"""Loaders of real data: pedestrian recordings, robot bags, benchmarks, and files of other programs."""
