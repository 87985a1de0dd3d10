"""Runs suites with planners: requests, jobs, executors, the results that a run leaves in its folder, and exports of the results."""
