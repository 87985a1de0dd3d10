"""The map generator node, which publishes maps and distance maps, and saves worlds."""
