"""The simulator node: one set of services over the drivers native, flatland, gazebo and unity."""
