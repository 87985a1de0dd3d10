"""Maps: occupancy cells, shapes, distance fields, map files, and map generators."""
