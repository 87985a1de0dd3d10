"""An episode while it is put together: surroundings, scenario, people, the task that modes fill, the stage it is of."""
