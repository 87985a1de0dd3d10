"""The native engine: kernels that advance a batch of worlds, the crowd that moves the pedestrians, and the robots' observations."""
