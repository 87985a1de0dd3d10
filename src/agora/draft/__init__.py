"""An episode during its creation: surroundings, scenario, people, the task that modes fill, the stage it is of."""
