"""MuJoCo as a robot simulator: the models of robots and places, and the simulation itself."""
