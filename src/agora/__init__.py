"""Agora: robot navigation among people, developed, trained, simulated and benchmarked."""

__version__ = "0.1.0"
