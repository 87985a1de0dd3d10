"""Lidar and other sensors, computed when somebody reads them."""
