"""Live episodes: each in a process of its own, watched and driven from pages."""
