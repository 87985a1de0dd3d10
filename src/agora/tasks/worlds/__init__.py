"""World sources: one file each."""
