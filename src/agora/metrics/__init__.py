"""Metrics: pure functions of a recorded episode.

Each module is named after what its metrics measure. Put a new metric into the first module in this list whose description fits:

1. `published`: the metric repeats the code of one publication, so that its table can be reproduced.
2. `composite`: the metric combines several metrics into one score; `clean`: it judges whether an arrival had a cost to people.
3. `outcome`: the end of the episode, contacts, failures and progress; `blame`: the party that caused a contact.
4. `planning_time`: the planner's computation time; `planner_notes`: the planner's notes (`agora.interfaces.NOTES`).
5. `groups`: groups of people and the robot; `forces`: forces of the social force model.
6. `gaussian_spaces`: Gaussian spaces around people or groups; `attention`: gazes and lines of sight.
7. `conflict`: times to a collision; `encounters`: single encounters with one person; `following`: finding and following people.
8. `personal_zones`: time or events within a fixed distance of people; `pedestrian_distance`: distances to people, in metres;
   `wall_distance`: distances to walls.
9. `effect_on_pedestrians`: how people walk compared with an episode without robots; `pedestrian_speed`: the speeds of people.
10. `efficiency`: path length and time compared with the shortest possible; `twists`: twists in the robot's own frame and commands;
    `motion`: speed, acceleration, jerk and curvature of the robot's path.

If no module fits, add a module named after the quantity, and add an entry to this list. Tables and reports list a metric under the
name of its module or under the module's `GROUP` if it is set. `quantities` contains quantities that several metrics share;
`registered` lists and computes the registered metrics.
"""
