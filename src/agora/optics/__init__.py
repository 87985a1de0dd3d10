"""Geometry of lidars and cameras: casting rays to obstacles, and projecting pixels to points. Sensors are in `agora.channels`."""
