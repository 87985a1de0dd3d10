"""Runs suites with planners: requests, jobs, executors, the results in a run's folder, and exports of these results."""
