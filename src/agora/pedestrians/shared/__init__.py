"""Code shared by crowd models and behaviours: forces, neighbour lists, distances to walls, formations and spots."""
