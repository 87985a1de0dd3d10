"""Loaders for external data: pedestrian recordings, robot bags, benchmarks, and files from other programs."""
