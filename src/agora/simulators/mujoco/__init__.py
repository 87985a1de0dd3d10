"""MuJoCo as a simulator of robots: their models, the place that they drive in, and the robots at work."""
