"""Task generator: modes, scenarios, suites."""
