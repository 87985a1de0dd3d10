"""Checks that a planner drives as fast as it declares, and no faster than an interplanner allows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from agora.core.state import Floats
from agora.costmap.window import Window
from agora.interfaces import BatchPlanner, Costmap, Guidance, Memory, Observation
from agora.interfaces.channel import Provider, Reading
from agora.planners import adapters
from agora.planners.guided import guided_observation
from agora.testing.scenes import observation, sensors_of, sized

_FAST = np.float32(1.5)  # m/s, and m/s2
_AHEAD = 30.0  # m
_PERIODS = 60
_SLOTS = 3
_HEADING = 0.4  # rad
_SHARE = 0.6
_SLACK = np.float32(1.02)


def hidden_speed(planner: BatchPlanner) -> str:
    """Return a description of how a planner's speed differs from its declaration or exceeds an interplanner's limit; empty if it
    obeys both.

    A fast robot drives along a straight path in open space. The robot must nearly reach the planner's declared top speed or its
    own. If an interplanner limits the speed to half of that, the robot must not exceed the limit. Planners that never drive are not
    checked.
    """
    top = min(float(_FAST), planner.declares.top_speed)
    fastest = _driven(planner, 1.0, _SHARE * top)
    if fastest < 1e-3:
        return ""
    if fastest < _SHARE * top:
        return f"top_speed: the robot drives at most {fastest:.2f} m/s although its limit is {_FAST:g}; declare top_speed"
    slowed = _driven(planner, 0.5, math.inf)
    if slowed > _SLACK * 0.5 * top:
        return f"top_speed: at half the top speed of {top:.2f} m/s, the robot drives {slowed:.2f} m/s"
    return ""


def _driven(planner: BatchPlanner, share: float, enough: float) -> float:
    """Return the highest speed reached on a straight path, m/s, with an interplanner that allows the fraction ``share`` of the top
    speed; stop once ``enough`` is reached.
    """
    pose, twist, fastest = np.array([1.0, -2.0, _HEADING]), np.zeros((1, 3), np.float32), 0.0
    memory: Memory = {}
    for _ in range(_PERIODS):
        seen = _open(planner, pose, twist)
        assert seen.path is not None and seen.path_count is not None
        allowed = np.full(1, share, np.float32)
        told = Guidance(seen.path, seen.path_count, seen.goal, allowed, np.zeros(1, np.float32))
        answer, failures = adapters.call(
            planner, guided_observation(seen, told, planner.declares.top_speed), memory, np.ones(1, np.bool_)
        )
        if failures:
            return 0.0
        memory, step = answer.memory, _FAST * np.float32(seen.dt)
        twist = np.clip(answer.twists, twist - 2.0 * step, twist + 2.0 * step).astype(np.float32)
        fastest = max(fastest, float(np.hypot(twist[0, 0], twist[0, 1])))
        if fastest >= enough:
            break
        heading = pose[2] + 0.5 * float(twist[0, 2]) * seen.dt
        pose += seen.dt * np.array([twist[0, 0] * math.cos(heading), twist[0, 0] * math.sin(heading), twist[0, 2]])
    return fastest


def _nothing(sensor: Provider) -> Reading:
    """Return one robot's readings of a sensor with nothing nearby, which are the maximum values."""
    most = {name: one.high if math.isfinite(one.high) else 0.0 for name, one in sensor.fields.items()}
    return {name: np.full((1, *sized(one, _SLOTS)), most[name], one.kind) for name, one in sensor.fields.items()}


def _open(planner: BatchPlanner, pose: np.ndarray, twist: Floats) -> Observation:
    """Return the observation of a robot on a straight path in empty space."""
    given = planner.declares.channels.get("costmap")
    window = given if isinstance(given, Window) else Window()
    sensors = sensors_of(planner.declares.channels)
    whole = observation(1, _SLOTS, window=Window(size=2.0), dt=planner.declares.period or 0.1)
    assert whole.pedestrians is not None and whole.robots is not None and whole.scan is not None
    f, along = np.float32, np.linspace(0.0, _AHEAD, 301)
    path = np.stack((1.0 + along * math.cos(_HEADING), -2.0 + along * math.sin(_HEADING)), -1)[None].astype(f)
    origin = np.floor(pose[None, :2] / window.resolution - window.cells // 2) * window.resolution
    fast, quick = np.full(1, _FAST), np.full(1, f(3.0))
    return replace(
        whole,
        pose=pose[None].astype(f),
        twist=twist,
        goal=np.array([[*path[0, -1], _HEADING]], f),
        limits=replace(whole.limits, max_vx=fast, max_ax=fast, max_alpha=quick),
        path=path,
        path_count=np.full(1, path.shape[1], np.int32),
        pedestrians=replace(whole.pedestrians, present=np.zeros_like(whole.pedestrians.present)),
        robots=replace(whole.robots, present=np.zeros_like(whole.robots.present)),
        scan=np.full_like(whole.scan, whole.scan_range),
        sensors={one.channel: _nothing(one) for one in sensors},
        costmap=Costmap(np.zeros((1, window.cells, window.cells), np.uint8), origin.astype(f), window.resolution),
    )
