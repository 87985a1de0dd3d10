"""Run a suite, store results, statistics, report."""
