"""Places in three dimensions: walls and furniture as solids, and files for simulators and viewers."""
