"""The simulator node, which offers the same services for the library's registered simulators, Flatland, Gazebo and Unity."""
