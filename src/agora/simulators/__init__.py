"""Simulators: what moves robots and pedestrians outside the episode loop, with one face."""
