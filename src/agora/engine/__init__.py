"""The native engine: kernels that advance a batch of worlds, the crowd that moves pedestrians, and the robots' observations."""
