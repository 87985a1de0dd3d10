"""The library's simulators, which implement `agora.interfaces.Simulator` and move the robots of a batch."""
