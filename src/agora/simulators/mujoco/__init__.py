"""A robot simulator that uses MuJoCo: the models of robots and places, and the simulation."""
