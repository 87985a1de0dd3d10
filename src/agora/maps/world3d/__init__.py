"""Places in three dimensions: solids of walls and furniture, and files of them for simulators and viewers."""
