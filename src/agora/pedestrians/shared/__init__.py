"""Parts of several crowd models and behaviours: forces, lists of neighbours, distances to walls, formations and spots."""
