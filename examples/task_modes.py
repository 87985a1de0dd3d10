"""Look at task modes: one generated ward, six pairs of robots mode and obstacles mode, drawn."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from agora.maps.place import Place
from agora.registry import Named, make
from agora.tasks.generator import TaskGenerator
from agora.tasks.obstacles.random import Amount, Random
from agora.viewer.figures import save
from agora.viewer.places import place_figure

ROLES = """
pedestrians:
  - {name: visitor, waypoints in: [corridor], number of waypoints: [2, 3], amount: 6}
robots:
  - {name: cleaner, waypoints in: [corridor]}
"""
Path("roles.yaml").write_text(ROLES, encoding="utf-8")
ward = make("worlds", "generated", generator=Named.of("map_generators", "hospital_ward"))
furnished = Random(dynamic=Amount(6, 6, ("actor1",)), static=Amount(3, 3, ("table",)), interactive=Amount(3, 3, ("chair",)))
robots = make("robots_modes", "random", count=3, distance=6.0)
pairs = {
    "random, none": ("random", "none"),
    "random, random": (robots, furnished),
    "random, parametrized": ("random", "parametrized"),
    "explore, random": ("explore", Random(dynamic=(4, 4))),
    "guided, random": ("guided", Random(dynamic=(4, 4))),
    "zones, zones": tuple(make(kind, "zones", file="./roles.yaml") for kind in ("robots_modes", "obstacles_modes")),
}
generator = TaskGenerator(world=ward, seed=1)
starts = []
for robots, obstacles in pairs.values():
    generator.switch(robots=robots, obstacles=obstacles)
    if robots == "guided":
        for goal in starts[-1].robots[0].goals[:4]:
            generator.append_waypoint(tuple(goal))
    starts.append(generator.reset())

world = generator.stage.world.part.world("hospital_ward-0", None)
zones = tuple(zone for zone in world.zones if zone.category[0] in ("corridor", "room"))
shown = [
    Place(replace(start.map, name=name), world.furniture + tuple(thing.furniture for thing in start.things), zones)
    for name, start in zip(pairs, starts, strict=True)
]
figure = place_figure(shown, columns=2, width=9.0)
figure.set_size_inches(9.0, 8.1)
for axes, start in zip(figure.axes, starts, strict=True):
    people = start.pedestrians
    for position, route in zip(people.position, people.waypoints, strict=True):
        axes.plot(*np.vstack([position, route]).T, color="#d95f02", lw=0.5, ls=":", zorder=3)
    axes.scatter(*people.position.T, s=14, color="#d95f02", zorder=4)
    for robot in start.robots:
        legs = np.vstack([robot.pose, robot.goals[:8]])[:, :2]
        axes.plot(*legs.T, color="#1f4e9c", lw=0.8, marker=".", ms=3, zorder=5)
        axes.plot(*robot.pose[:2], color="#1f4e9c", marker=(3, 0, np.degrees(robot.pose[2]) - 90), ms=8, zorder=6)
print("picture:", save(figure, Path("task_modes.png"), dpi=130))
