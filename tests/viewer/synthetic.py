"""Recordings and rows that look like real ones, from a few lines of arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from agora.core.recording import Contact, ContactKind, Outcome, Recording
from agora.interfaces import Metric
from agora.maps.grid import Map


def hall() -> Map:
    """A crooked hall of 70 x 110 cells with its lower-left corner at (-3.7, 2.3)."""
    occupied = np.zeros((70, 110), bool)
    occupied[[0, -1], :] = occupied[:, [0, -1]] = True
    occupied[25:28, :20] = occupied[48:70, 71:74] = True
    occupied[:14, 90:] = True
    pillar = 6.0 + 0.7 * np.array([[0.0, -0.9], [1.1, 0.2], [0.1, 1.0], [-0.8, 0.1]])
    return Map(
        name="hall",
        resolution=0.15,
        origin=(-3.7, 2.3),
        occupied=occupied,
        segments=np.array([[8.2, 3.1, 9.9, 5.6]]),
        discs=np.array([[1.4, 9.6, 0.5], [9.5, 8.7, 0.35]]),
        polygons=(pillar,),
    )


def episode(
    pedestrians: int = 20,
    duration: float = 24.0,
    dt: float = 0.1,
    seed: int = 3,
    outcome: Outcome = Outcome.REACHED,
    surroundings: Map | None = None,
    contacts: tuple[Contact, ...] = (),
) -> Recording:
    """A robot on a curve, pedestrians on curves of their own, some of which come late or leave early."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(duration / dt) + 1) * dt
    s = time / max(duration, dt)
    x, y = -2.0 + 13.0 * s, 4.2 + 5.8 * s + 1.6 * np.sin(4.5 * s)
    heading = np.arctan2(np.gradient(y), np.gradient(x)) if len(time) > 1 else np.zeros(1)
    speed = np.hypot(np.gradient(x), np.gradient(y)) / dt if len(time) > 1 else np.zeros(1)
    place = rng.uniform([-3.0, 3.0], [12.0, 12.0], (pedestrians, 2))
    course, bend = rng.uniform(-np.pi, np.pi, pedestrians), rng.normal(0.0, 0.08, pedestrians)
    pace = rng.uniform(0.4, 1.3, pedestrians)
    angle = course + bend * time[:, None] + 0.3 * np.sin(0.5 * time[:, None] + course)
    velocity = pace[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=2)
    position = place + np.cumsum(velocity, axis=0) * dt
    box, corner = np.array([15.5, 9.5]), np.array([-3.2, 2.8])
    folded = np.abs((position - corner) % (2 * box) - box)
    velocity = np.gradient(folded, dt, axis=0) if len(time) > 1 else velocity
    present = np.ones((len(time), pedestrians), bool)
    present[: len(time) // 3, 1::7] = False
    present[len(time) // 2 :, 3::7] = False
    return Recording(
        time=time,
        pose=np.stack([x, y, heading], axis=1),
        twist=np.stack([speed, 0 * speed, 0 * speed], axis=1),
        goal=np.array([11.0, 10.0 + 1.6 * np.sin(4.5), 0.4]),
        goal_tolerance=0.3,
        radius=0.27,
        max_speed=0.9,
        pedestrian_position=folded + corner,
        pedestrian_velocity=velocity,
        pedestrian_heading=np.arctan2(velocity[..., 1], velocity[..., 0]),
        pedestrian_present=present,
        pedestrian_radius=rng.uniform(0.2, 0.35, pedestrians),
        pedestrian_id=np.arange(pedestrians, dtype=np.int32) + 4,
        pedestrian_group=np.full((len(time), pedestrians), -1, np.int32),
        contacts=contacts,
        outcome=outcome,
        timeout=60.0,
        shortest_path=14.4,
        map=surroundings,
        planning_time=rng.gamma(4.0, 0.0005, len(time)),
        failure="ValueError: the <b>path</b> is empty" if outcome is Outcome.PLANNER_FAILED else "",
    )


def crash(seed: int = 5) -> Recording:
    """An episode in the hall that ends against a pedestrian after it has brushed a wall."""
    touches = (
        Contact(6.23, ContactKind.WALL, -1, 2.1, 7.9),
        Contact(15.04, ContactKind.PEDESTRIAN, 9, 6.2, 8.1),
    )
    return episode(seed=seed, duration=15.0, outcome=Outcome.PEDESTRIAN_COLLISION, surroundings=hall(), contacts=touches)


def _none(_: Recording) -> float | None:
    return None


METRICS = [
    Metric("time_to_goal", "s", "lower", "time at which the goal was reached; successes only", "Francis et al. 2023", 1, _none),
    Metric("spl", "", "higher", "S L* / max(L, L*)", "Anderson et al. 2018", 1, _none, compared="all"),
    Metric("clearance.min", "m", "higher", "least gap to a pedestrian", "SocNavBench", 2, _none),
    Metric("jerk.mean", "m/s3", "lower", "mean |d2v/dt2|", 'own "definition" <i>', 1, _none),
    Metric("path_irregularity", "rad/m", "neutral", "turning per metre", "Guzzi et al. 2013", 1, _none),
]


def rows(
    planners: tuple[str, ...] = ("social_force", "orca", "dwa"),
    episodes: int = 25,
    stages: tuple[str, ...] = ("corridor", "crossing"),
) -> list[dict[str, Any]]:
    """A row per episode; each planner is a little better than the one before it."""
    table = []
    for number, planner in enumerate(planners):
        for stage_number, stage in enumerate(stages):
            rng = np.random.default_rng([number, stage_number, 17])
            for index in range(episodes):
                skill = rng.random() + 0.05 * number
                outcome = "reached" if skill > 0.3 else ("pedestrian_collision" if skill > 0.12 else "timeout")
                seconds = float(rng.gamma(9.0, 2.0) + 8 - number) if outcome == "reached" else None
                table.append(
                    {
                        "key": f"demo/{stage}/{index}/{planner}",
                        "suite": "demo",
                        "stage": stage,
                        "episode": index,
                        "seed": 1000 + index,
                        "planner": planner,
                        "robot": "turtlebot",
                        "outcome": outcome,
                        "failure": "",
                        "time_to_goal": seconds,
                        "spl": float(rng.beta(8, 2)) if outcome == "reached" else 0.0,
                        "clearance.min": float(rng.normal(0.4 + 0.05 * number, 0.2)),
                        "jerk.mean": float(rng.lognormal(0.2, 0.6)),
                        "path_irregularity": float(rng.gamma(2.0, 0.3)),
                    }
                )
    return table
