"""Timed elastic bands: poses, costs, obstacles, checks and solver, shared by `teb` and `cohan`."""
