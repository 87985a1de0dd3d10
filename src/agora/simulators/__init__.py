"""Simulators of one robot world, behind one protocol: the library's own engine, and simulators in ROS."""
