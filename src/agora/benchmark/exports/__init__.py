"""Runs as files of other tools: MCAP, bags of ROS 1, CSV, and the trajectories of SocNavData."""
