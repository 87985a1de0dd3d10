"""Camera images of the simulated world: colour, depth and segmentation of the scene and of people with 3-D bodies."""
