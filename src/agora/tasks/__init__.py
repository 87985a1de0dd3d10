"""The task generator: modes, scenarios and suites."""
