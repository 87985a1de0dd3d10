"""Crowd models."""
