"""Trainers; they need PyTorch."""
