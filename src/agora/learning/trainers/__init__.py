"""Trainers, which require PyTorch."""
