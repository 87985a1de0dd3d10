"""Timed elastic bands: their poses, costs, obstacles, checks and solver, shared by `teb` and `cohan`."""
