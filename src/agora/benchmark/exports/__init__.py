"""Exports of runs to the formats of other tools: MCAP, ROS 1 bags, CSV, and SocNavData trajectories."""
