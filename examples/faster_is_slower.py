"""Faster is slower (Helbing, Farkas and Vicsek 2000): how long 60 of 200 people take to leave a room by a door of 1 m."""

import numpy as np

from agora.draft.periods import Periods
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.maps.grid import Map
from agora.pedestrians.models.evacuation import Evacuation
from agora.world.start import PedestrianStarts, Start

SIDE, DOOR, WALL, PEOPLE, DT = 15.0, 1.0, 0.2, 200, 0.05
MIDDLE, OUTSIDE = SIDE / 2, SIDE + WALL


def room() -> Map:
    """Walls about a square with a door in the middle of one side; cells of 2 cm, because the door is as good as they are."""
    low, high, end = MIDDLE - DOOR / 2, MIDDLE + DOOR / 2, SIDE + 1
    boxes = [(-1, -1, SIDE, 0), (-1, SIDE, SIDE, end), (-1, 0, 0, SIDE), (SIDE, -1, OUTSIDE, low), (SIDE, high, OUTSIDE, end)]
    corners = [[(x0, y0), (x1, y0), (x1, y1), (x0, y1)] for x0, y0, x1, y1 in boxes]
    return Map.from_shapes(polygons=corners, bounds=(-1, -1, SIDE + 3, end), resolution=0.02, name="room")


def start(place: Map, speed: float, seed: int) -> Start:
    """People of 0.5 to 0.7 m in diameter at random places, who go to the door and then straight on."""
    rng, spots = np.random.default_rng(seed), np.zeros((0, 2))
    while len(spots) < PEOPLE:
        spot = rng.uniform(0.4, SIDE - 0.4, 2)
        spots = np.vstack([spots, spot]) if np.all(np.hypot(*(spots - spot).T) > 0.72) else spots
    each, whole = np.ones(PEOPLE), np.ones(PEOPLE, np.int32)
    way = np.tile([[SIDE + WALL / 2, MIDDLE], [1000.0, MIDDLE]], (PEOPLE, 1, 1))
    size, id = rng.uniform(0.25, 0.35, PEOPLE), np.arange(PEOPLE, dtype=np.int32)
    people = PedestrianStarts(spots, speed * each, size, -whole, id, way, 2 * whole, 2 * whole, 0.4 * each, np.zeros((PEOPLE, 2)))
    return Start(f"room/{speed}/{seed}", seed, place, (), people, timeout=1e6, goal_tolerance=0.3)


def left(speeds: list[float], seeds: int, enough: int, longest: float, model: Evacuation) -> np.ndarray:
    """Return how many have left (time, speed, seed), every 0.05 s, until ``enough`` have; all rooms side by side."""
    place = room()
    starts = [start(place, speed, seed) for speed in speeds for seed in range(seeds)]
    conditions = Conditions(Periods(DT, DT, DT, DT), model)
    engine, counts = Engine.of(starts, conditions), [np.zeros(len(starts))]
    for world, one in enumerate(starts):
        engine.reset(world, one)
    while counts[-1].min() < enough and len(counts) * DT < longest:
        engine.step()
        engine.world.pedestrians.active[engine.world.pedestrians.x > OUTSIDE] = False
        counts.append(PEOPLE - engine.world.pedestrians.active.sum(axis=1))
    return np.stack(counts).reshape(-1, len(speeds), seeds)


if __name__ == "__main__":
    speeds = [0.75, 1.5, 5.0]
    time = (left(speeds, 1, 60, 200.0, Evacuation()) >= 60).argmax(axis=0) * DT
    for speed, [seconds] in zip(speeds, time, strict=True):
        print(f"who wants to walk at {speed:4.2f} m/s leaves within {seconds:.0f} s")
