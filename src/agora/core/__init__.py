"""Records of arrays and the physics on them."""
