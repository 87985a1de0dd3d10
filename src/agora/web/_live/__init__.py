"""Live episodes, each of which runs in its own process and is watched and driven in the web interface."""
