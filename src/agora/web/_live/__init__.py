"""Live episodes: each runs in its own process, watched and driven from pages."""
