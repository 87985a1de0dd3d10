"""World sources, one per file."""
