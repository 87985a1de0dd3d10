"""Perception of people from their places and motion."""
