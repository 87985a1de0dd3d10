"""The crowd node, the waypoint-plugin node and the semantic topics."""
