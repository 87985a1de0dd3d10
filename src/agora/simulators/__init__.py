"""Simulators of the library: they move the robots of a batch, behind `agora.interfaces.Simulator`."""
