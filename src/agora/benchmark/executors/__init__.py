"""Executors, which run the jobs of a benchmark: in this process, in worker processes, on a Ray cluster, or externally."""
