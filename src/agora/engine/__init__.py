"""The native engine: kernels that advance a batch of worlds, the crowd, which moves the pedestrians, and the robots' observations."""
