"""Robots driven from messages: the library's navigation stack outside the episode loop."""
