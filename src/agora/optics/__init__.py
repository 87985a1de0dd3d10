"""The geometry of lidars and cameras: rays to obstacles, and points that pixels show. Sensors are in `agora.channels`."""
