"""An episode while it is being created: its surroundings, scenario, people and stage, and the task that the modes fill in."""
