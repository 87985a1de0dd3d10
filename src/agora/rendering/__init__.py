"""Pictures from cameras in the world: people with a shape, the scene that they walk in, colours, depth and segmentation."""
