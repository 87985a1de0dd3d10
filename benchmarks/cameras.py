"""Measures how many images per second cameras produce: ``python benchmarks/cameras.py [people]``.

The scene is one robot in a hall of 16 x 12 m with furniture and people walking all around it. Images are colour and depth at 160 x
120, and segmentation. Times are medians of single images, on one Python thread, plus the cores that the driver uses. The program
also prints where the time goes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from agora.channels.camera import Camera, Cameras
from agora.core.state import Array
from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.interfaces import Setting
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.rendering.context import backend
from agora.rendering.view import Eye
from agora.robots.model import load_robot
from agora.world.start import PedestrianStarts, RobotStart, Start
from agora.world.world import World

WALLS = [[0.0, 0.0, 16.0, 0.0], [16.0, 0.0, 16.0, 12.0], [16.0, 12.0, 0.0, 12.0], [0.0, 12.0, 0.0, 0.0], [9.0, 0.0, 9.0, 4.0]]
ROBOT = (2.0, 5.0, 0.1)
ROUNDS = 200


def hall(people: int) -> Start:
    """Return the episode."""
    rng = np.random.default_rng(3)
    place = rng.uniform((1.0, 1.0), (15.0, 11.0), (4 * people, 2))
    place = place[np.hypot(*(place - ROBOT[:2]).T) > 1.5][:people]
    crowd = PedestrianStarts(
        position=place,
        speed=np.full(people, 1.2),
        radius=np.full(people, 0.3),
        group=np.full(people, -1, np.int32),
        id=np.arange(people, dtype=np.int32),
        waypoints=place[:, None] + rng.normal(0.0, 3.0, (people, 1, 2)),
        waypoint_count=np.ones(people, np.int32),
        mode=np.zeros(people, np.int32),
        tolerance=np.full(people, 0.3),
        velocity=rng.normal(0.0, 0.9, (people, 2)),
    )
    furniture = tuple(
        Furniture(name, x, 11.3, 3.14) for name, x in (("shelf", 2.0), ("desk", 5.0), ("cabinet", 8.0), ("sofa", 12.0))
    )
    robot = RobotStart(load_robot("jackal"), np.array(ROBOT), np.array([[14.0, 6.0, 0.0]]))
    map = Map.from_shapes(segments=WALLS, bounds=(-0.5, -0.5, 16.5, 12.5), name="hall")
    return Start("benchmark/cameras/0", 1, map, (robot,), crowd, 60.0, furniture=furniture)


def cameras(camera: Camera, start: Start) -> tuple[Cameras, World]:
    """Return a working camera in one world."""
    world = World.of([start], dt=0.1)
    observer = Observer(world, Wiring.of((camera,), Setting()), 0.1)
    world.reset(0, start)
    observer.place(0, 0, start.robots[0].model)
    observer.measure()
    part = observer.part(Cameras)
    assert part is not None
    return part, world


def median(work: Callable[[], object]) -> tuple[float, float, float]:
    """Return the median and minimum time of a call, and the processor time of all threads, ms."""
    times, used = [], time.process_time()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return 1e3 * float(np.median(times)), 1e3 * min(times), 1e3 * (time.process_time() - used) / ROUNDS


def measured(camera: Camera, start: Start) -> tuple[tuple[float, float, float], int]:
    """Return the times of an image while people walk, ms, and how many people it shows."""
    part, world = cameras(camera, start)

    def one() -> None:
        world.pedestrians.x[...] += 0.01 * world.pedestrians.vx
        world.pedestrians.y[...] += 0.01 * world.pedestrians.vy
        part.measure(0, 1)

    spent = median(one)
    seen, _ = cameras(replace(camera, what=("segmentation",)), start)
    owners: Array = seen.reading["instance"]
    return spent, len(np.unique(owners[owners >= 0]))


def main() -> None:
    """Print the table."""
    people = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    start, plain = hall(people), Camera()
    print(f"{people} people, {plain.width} x {plain.height}, drawn by {backend()}")
    for label, camera in {
        "colours and depth": plain,
        "colours and depth, smooth": replace(plain, smooth=True),
        "depth": replace(plain, what=("depth",)),
        "segmentation": replace(plain, what=("segmentation",)),
        "colours and depth, 640 x 480": replace(plain, width=640, height=480),
    }.items():
        spent, seen = measured(camera, start)
        middle, least, used = spent
        print(
            f"{label:32s} median {middle:6.2f} ms, least {least:6.2f}, processors {used:6.2f}: {1e3 / middle:5.0f} images a second"
        )
    print(f"{seen} people in the image")
    part, world = cameras(plain, start)
    studio = part._studio
    view, eye = studio.view(0), Eye.on(plain.pinhole, plain.width, plain.height, studio.poses(0)[0])
    image, depth = np.zeros((120, 160, 3), np.uint8), np.zeros((120, 160), np.float32)
    view.look(eye)
    parts = {
        "walk": lambda: studio.walk(0),
        "poses of people": lambda: studio.view(0),
        "what is in view": lambda: view.look(eye),
        "drawing and reading": lambda: view.colours(eye, image, depth),
    }
    print("; ".join(f"{name} {median(work)[0]:.2f} ms ({median(work)[1]:.2f})" for name, work in parts.items()))


if __name__ == "__main__":
    main()
