"""SocNavBench's joysticks as planners: the protocol over sockets, the robot's motion, and that simulator's own files."""
