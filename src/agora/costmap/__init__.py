"""Costmaps: static layer and inflation."""
