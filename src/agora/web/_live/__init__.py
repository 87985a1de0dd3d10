"""Live episodes; each runs in its own process, and is watched and driven from the pages."""
