"""Runs SocNavBench joysticks as planners: the socket protocol, the robot's motion, and the files of the SocNavBench simulator."""
