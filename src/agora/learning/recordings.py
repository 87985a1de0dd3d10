"""Recorded motion for training: simulated by Agora, or of real pedestrians."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agora.core.state import Doubles
from agora.datasets.eth_ucy import read_scene
from agora.draft.periods import Periods
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.maps.grid import Map
from agora.pedestrians.models.deep_social_force import DeepSocialForce
from agora.world.start import PedestrianStarts, Start
from agora.world.trajectories import Trajectories

STEP = 0.4
"""Time between two recorded positions, s."""

Recording = list[tuple[Trajectories, Doubles, Doubles]]
"""A list of takes, each with the trajectories of n pedestrians, their goals (n, 2), m, and preferred speeds (n,), m/s."""


def simulate(model: DeepSocialForce, *, worlds: int = 32, pedestrians: int = 8, duration: float = 8.0, seed: int = 0) -> Recording:
    """Return a recording of simulated pedestrians who cross a square with 6 m sides, sampled every `STEP`.

    Agora's engine runs with steps of 0.02 s and without walls. Each pedestrian walks to a goal far beyond the opposite side; speeds
    are not capped.
    """
    dt, rng, uncapped = 0.02, np.random.default_rng(seed), replace(model, max_speed_factor=100.0)
    plain = Map.open((-60.0, -60.0), (60.0, 60.0), resolution=1.0)
    starts = [_crossing(rng, plain, pedestrians) for _ in range(worlds)]
    engine = Engine.of(starts, Conditions(Periods(dt, dt, dt, dt), uncapped), worlds=worlds)
    for w, start in enumerate(starts):
        engine.reset(w, start)
    rows = []
    for step in range(round(duration / dt) + 1):
        if step % round(STEP / dt) == 0:
            now = engine.world.pedestrians
            rows.append(np.stack((now.x[:, :pedestrians], now.y[:, :pedestrians]), -1).astype(np.float64))
        engine.step()
    engine.close()
    place = np.stack(rows)
    time = STEP * np.arange(len(place))
    who = np.arange(pedestrians)
    return [
        (
            Trajectories.of_rows(np.repeat(time, pedestrians), np.tile(who, len(time)), *place[:, w].reshape(-1, 2).T),
            start.pedestrians.waypoints[:, 0],
            start.pedestrians.speed,
        )
        for w, start in enumerate(starts)
    ]


def _crossing(rng: np.random.Generator, plain: Map, count: int) -> Start:
    """Return a start with pedestrians at random positions in a square, at least 0.6 m apart, who walk to the opposite side."""
    position = np.zeros((0, 2))
    while len(position) < count:
        drawn = rng.uniform(-3.0, 3.0, 2)
        if len(position) == 0 or np.linalg.norm(position - drawn, axis=1).min() > 0.6:
            position = np.vstack((position, drawn))
    across = -position + rng.uniform(-2.0, 2.0, (count, 2))
    ahead = across / np.linalg.norm(across, axis=1, keepdims=True)
    speed = rng.uniform(0.8, 1.6, count)
    whole = np.ones(count, np.int32)
    return Start(
        entry="crossing",
        seed=0,
        map=plain,
        robots=(),
        pedestrians=PedestrianStarts(
            position=position,
            speed=speed,
            radius=np.full(count, 0.3),
            group=-whole,
            id=np.arange(1, count + 1, dtype=np.int32),
            waypoints=(position + 40.0 * ahead)[:, None],
            waypoint_count=whole,
            mode=0 * whole,
            tolerance=np.full(count, 0.5),
            velocity=speed[:, None] * ahead,
        ),
        timeout=1e6,
    )


def eth_ucy(scenes: Sequence[str]) -> Recording:
    """Return ETH/UCY scenes, each as one take; students003 is read from "obsmat", which contains the scene's groups.

    The true goals are unknown, so the last observed position of a pedestrian is used as its goal and its mean speed as its
    preferred speed.

    Raises:
        UnknownNameError: there is no scene with this name.
        InputError: the data set is missing.
    """
    takes = []
    for name in scenes:
        people = read_scene(name, "obsmat" if name == "students003" else None).trajectories
        last = people.first[1:] - 1
        goals = np.column_stack((people.knot_x[last], people.knot_y[last]))
        speeds = np.array([people.only(people.id == who).mean_speed() for who in people.id])
        takes.append((people, goals, speeds))
    return takes
