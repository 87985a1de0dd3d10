"""Costmaps: the local window around a robot, inflation, obstacles from scans, and layers of costs around pedestrians."""
