"""Occupancy, distance field, map_server files."""
