"""Places in three dimensions: walls and furniture as solids, and their export to files for simulators and viewers."""
