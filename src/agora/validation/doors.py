"""Experiments with doors: a full room empties through a door, and two crowds pass each other in a door.

The measured flow through doors 0.8 to 1.2 m wide is 1.2 to 1.9 persons per metre and second (T. Kretz, A. Gruenebohm and M.
Schreckenberg, J. Stat. Mech. 2006, P10014; A. Seyfried et al., Transportation Science 43, 2009).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agora.core.state import Doubles
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.validation.rimea import Case, arrived, finite
from agora.validation.walk import Walk, fill, speeds, walk

_SIDE, _DEPTH, _THICK = 10.0, 8.0, 0.3  # m, width and depth of the room, and thickness of its walls
_OUT = 0.5  # m, distance behind the wall at which a person counts as out
_FULL = 2.2  # 1/m2, maximum density at the start


def evacuation(model: Any, door: float = 1.0, count: int = 60, *, seed: int = 0) -> Case:
    """Let people leave a room through one door and walk to places up to 45 m away. The room measures 10 x 8 m; if there are many
    people, it is deeper.

    Args:
        model: crowd model, or a `SimulatedCrowd`.
        door: width of the door, m.
        count: number of people.
        seed: seed used to sample positions and preferred speeds.
    """
    depth = max(_DEPTH, count / (0.6 * _FULL * (_SIDE - 0.8)) + 1.0)
    stream = Stream(f"evacuation/{count}/{door}", seed, "validation")
    start = _some(stream, (0.4 - depth, 0.4 - _SIDE / 2), (-0.6, _SIDE / 2 - 0.4), count)
    angle = stream.uniform(-1.2, 1.2, (count,))
    goals = np.stack([45.0 * np.cos(angle), 25.0 * np.sin(angle)], -1)
    place = _walls(door, (-depth, _OUT + 50.0), 30.0)
    longest = 20.0 + 2.5 * count / door
    seen = walk(model, place, start, goals[:, None], longest, speed=speeds(stream, count))
    out = np.sort(seen.passed(_OUT))
    left, flow = int(np.isfinite(out).sum()), _flow(out, door)
    found = f"{arrived(out, 'out', longest)}, {flow:.2f} people per m per s"
    values = {"out": float(left), "last": finite(out.max()), "flow": flow}
    return Case(
        f"door of {door:g} m, {count} people",
        "all out, 1.2 to 1.9 people per m per s",
        found,
        left == count and 1.2 <= flow <= 1.9,
        values,
    )


def counterflow(model: Any, door: float = 1.0, count: int = 20, *, seed: int = 0) -> Case:
    """Let the same number of people in each of two rooms of 10 x 8 m swap rooms through one door within 120 s.

    Args:
        model: crowd model, or a `SimulatedCrowd`.
        door: width of the door, m.
        count: number of people in each room.
        seed: seed used to sample positions and preferred speeds.
    """
    stream = Stream(f"counterflow/{count}/{door}", seed, "validation")
    low, high = np.array([0.5 - _DEPTH, 0.6 - _SIDE / 2]), np.array([-1.0, _SIDE / 2 - 0.6])
    left, right = _some(stream, low, high, count), _some(stream, low, high, count) * (-1.0, 1.0) + (_THICK, 0.0)
    place, start = _walls(door, (-_DEPTH, _DEPTH + _THICK), _SIDE / 2), np.vstack([left, right])
    longest = 120.0
    seen = walk(model, place, start, np.vstack([right, left])[:, None], longest, speed=speeds(stream, 2 * count))
    through = np.concatenate([seen.passed(_OUT)[:count], _back(seen, _THICK - _OUT)[count:]])
    done = int(np.isfinite(through).sum())
    found = arrived(through, "through", longest)
    values = {"through": float(done), "last": finite(through.max())}
    return Case(f"door of {door:g} m, {count} people against {count}", "all through in 120 s", found, done == 2 * count, values)


def _flow(out: Doubles, door: float) -> float:
    """Return the flow in persons per metre and second, without the first and the last eighth of the sorted exit times ``out``,
    s.
    """
    out = out[np.isfinite(out)]
    skip = max(1, len(out) // 8)
    return 0.0 if len(out) < 8 else (len(out) - 2 * skip) / max(out[-1 - skip] - out[skip - 1], 1e-9) / door


def _back(seen: Walk, line: float) -> Doubles:
    """Return the time (P,), s, at which each pedestrian's x coordinate was first below ``line``; infinite if it never was."""
    beyond = seen.position[..., 0] < line
    return np.where(beyond.any(0), seen.time[beyond.argmax(0)], np.inf)


def _some(stream: Stream, low: Any, high: Any, count: int) -> Doubles:
    """Return ``count`` random positions in a box."""
    area = float(np.prod(np.asarray(high) - np.asarray(low)))
    places = fill(stream, low, high, 1.3 * count / area)
    return places[np.argsort(stream.uniform(shape=(len(places),)))][:count]


def _walls(door: float, x: tuple[float, float], half: float) -> Map:
    """Return a map that has a wall with a door at x = 0. On the left, 10 m of the wall close off a room; on the right, the space
    extends to the map's edge.
    """
    low, high = x
    side, jamb = _SIDE / 2, door / 2
    boxes = [
        (low - _THICK, -side - _THICK, _THICK, -side),
        (low - _THICK, side, _THICK, side + _THICK),
        (low - _THICK, -side, low, side),
    ]
    boxes += [(0.0, -side, _THICK, -jamb), (0.0, jamb, _THICK, side)]
    walls: list[Doubles] = [np.array([(a, b), (c, b), (c, d), (a, d)]) for a, b, c, d in boxes]
    bounds = (low - 0.5, -max(half, side + 0.5), high, max(half, side + 0.5))
    return Map.from_shapes(polygons=walls, bounds=bounds, resolution=0.05 if half < 10.0 else 0.1, name="door")
