"""The simulator node: one set of services over the simulators of the library's registry, flatland, gazebo and unity."""
