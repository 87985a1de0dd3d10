"""The map generator node: maps, distance maps and worlds."""
