"""Timed elastic bands: their poses, costs, obstacles, checks and solver, as `teb` and `cohan` use them."""
