"""Costmap layers: one way through a hall with nothing, personal space and visibility on the costmap, in one picture."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from agora.costmap.personal_space import PersonalSpace
from agora.costmap.visibility import Visibility
from agora.engine.semantics import layer_costs
from agora.interfaces import PathRequest
from agora.maps.grid import Map
from agora.planners.global_.astar import AStar
from agora.world.start import PedestrianStarts, Start
from agora.world.world import World

HALL = Map.from_shapes(bounds=(0.0, 0.0, 12.0, 6.0), resolution=0.05, name="hall")
PLACES = np.array([[3.0, 2.5], [6.0, 3.5], [9.0, 3.2]])
HEADINGS = np.array([np.pi / 2, np.pi / 2, np.pi])
VELOCITIES = np.array([[0.0, 0.0], [0.0, 0.0], [-0.4, 0.0]])
LAYERS = {
    "nothing": (),
    "personal_space": (PersonalSpace(),),
    "personal_space, visibility": (PersonalSpace(), Visibility(cost=250.0, deviation=1.2)),
}

crowd = PedestrianStarts(
    position=PLACES,
    speed=np.ones(3),
    radius=np.full(3, 0.3),
    group=np.full(3, -1, np.int32),
    id=np.arange(3, dtype=np.int32),
    waypoints=PLACES[:, None],
    waypoint_count=np.ones(3, np.int32),
    mode=np.full(3, 2, np.int32),
    tolerance=np.full(3, 0.3),
    velocity=VELOCITIES,
    heading=HEADINGS,
)
start = Start("give_way", 0, HALL, (), crowd, timeout=1.0, goal_tolerance=0.3)
world = World.of([start], dt=0.05)
world.reset(0, start)

figure = Figure((6.0, 8.4), layout="constrained")
for axes, (name, layers) in zip(figure.subplots(3), LAYERS.items(), strict=True):
    cost = layer_costs(world, 0, layers, HALL)
    path = AStar().path(PathRequest(HALL, np.array([0.7, 3.0, 0.0]), np.array([11.3, 3.0, np.nan]), 0.3, cost=cost))
    gap = np.hypot(*(path[:, None] - PLACES).transpose(2, 0, 1)).min(0)
    print(f"{name:28s} passes at {', '.join(f'{g:.2f} m' for g in gap)}")
    axes.imshow(cost, origin="lower", extent=(0, 12, 0, 6), cmap="OrRd", vmin=0, vmax=252)
    axes.plot(*path.T, color="tab:blue", lw=2)
    axes.quiver(*PLACES.T, np.cos(HEADINGS), np.sin(HEADINGS), scale=25, width=0.005)
    axes.scatter(*PLACES.T, s=60, color="black")
    axes.set_title(name, fontsize=9)
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
Path("results").mkdir(exist_ok=True)
figure.savefig("results/give_way.png", dpi=110)
