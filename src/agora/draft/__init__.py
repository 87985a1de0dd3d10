"""An episode while it is being created: its surroundings, scenario and people, the task that the modes fill in, and its stage."""
