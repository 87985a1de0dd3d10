"""The map generator node, which provides maps, distance maps and worlds."""
