"""Camera images of the simulated world: people with 3-D bodies, the scene that they walk in, colour, depth and segmentation."""
