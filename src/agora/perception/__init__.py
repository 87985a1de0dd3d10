"""Perception of people: detection, tracking, grouping and visibility."""
