"""The library's simulators, which move the robots of a batch and implement `agora.interfaces.Simulator`."""
