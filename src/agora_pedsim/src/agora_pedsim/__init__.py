"""The crowd node, the plugin node and the semantic topics."""
