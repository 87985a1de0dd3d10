"""Test cases of the RiMEA guideline that do not need stairs, which a pedestrian model must pass.

Source: RiMEA e.V., Richtlinie fuer Mikroskopische Entfluchtungsanalysen, version 4, 2022: cases 1 (speed in a corridor), 4
(fundamental diagram), 6 (corner), 9 (room with closed exits) and 12 (bottleneck), as described in the docstring of each function;
values that the guideline leaves open are Agora's own. People have the radius and, except in case 1, the preferred speeds of
`agora.draft.people.People`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Doubles
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.validation.flow import fundamental_diagram, weidmann
from agora.validation.walk import Walk, fill, speeds, walk

_THICK = 0.3  # m, thickness of walls
_AWAY = 60.0  # m, distance that people continue to walk after the exit
_FLAT = 0.05  # m/s, maximum difference at which two mean speeds count as equal


@dataclass(frozen=True)
class Case:
    """The result of one case.

    Attributes:
        name: name of the case.
        expected: result required by the guideline.
        found: actual result, with units.
        met: whether the result meets the guideline.
        values: numbers from which the result was derived, by name; None for an event that did not occur, such as the exit of the
            last person if someone stayed inside.
    """

    name: str
    expected: str
    found: str
    met: bool
    values: dict[str, float | None]


def finite(value: float) -> float | None:
    """Return a number, or None if the number is non-finite."""
    return float(value) if np.isfinite(value) else None


def arrived(times: Doubles, where: str, longest: float) -> str:
    """Return a text that says how many people reached a place, and when the last person did.

    Args:
        times: (P,) arrival time of each person, s; infinite for people who did not arrive.
        where: name of the place, such as "out".
        longest: time limit, s.
    """
    came = int(np.isfinite(times).sum())
    when = f", the last after {times.max():.1f} s" if came == len(times) else f" within {longest:.0f} s"
    return f"{came} of {len(times)} {where}{when}"


def case_1(model: Any) -> Case:
    """A pedestrian with a desired speed of 1.33 m/s walks from rest along a corridor of 40 x 2 m; this must take 26 to 34 s."""
    place = _walled((0.0, 0.0, 40.0, 2.0), [])
    longest = 45.0
    seen = walk(model, place, [(0.5, 1.0)], [[(60.0, 1.0)]], longest, speed=1.33)
    time = float(seen.passed(40.0)[0]) * 40.0 / 39.5
    found = f"{time:.1f} s" if np.isfinite(time) else f"end not reached within {longest:.0f} s"
    return Case("1: speed in a corridor", "40 m in 26 to 34 s", found, 26.0 <= time <= 34.0, {"time": finite(time)})


def case_4(model: Any, densities: Sequence[float] = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0), seed: int = 0) -> Case:
    """People walk in a corridor at several densities; their speed must decrease with density.

    The deviation from Weidmann's speeds is reported.
    """
    diagram = fundamental_diagram(model, densities, seed=seed)
    speed, seen = diagram.speed, np.isfinite(diagram.speed)
    falls = bool((np.diff(speed) < _FLAT).all()) and float(speed[0] - speed[-1]) > _FLAT and float(speed.min()) >= 0.0
    values: dict[str, float | None] = {
        f"speed at {rho:.2f} /m2": float(v) for rho, v in zip(diagram.density[seen], speed[seen], strict=True)
    }
    worst = float(np.abs(speed - weidmann(diagram.density)).max())
    found = f"{diagram.error:.2f} m/s from Weidmann's speeds, {speed.min():.2f} m/s at {diagram.density.max():.1f} /m2"
    return Case(
        "4: speed against density",
        "falls with the density, never below 0",
        diagram.unseen or found,
        falls,
        values | {"error": finite(diagram.error), "worst": finite(worst)},
    )


def case_6(model: Any, seed: int = 0) -> Case:
    """20 people walk 12 m, turn a corner to the left and walk another 12 m, in a corridor 2 m wide; no one may pass through a
    wall.
    """
    place = _walled((0.0, 0.0, 12.0, 12.0), [(0.0, 2.0, 10.0, 12.0)])
    stream = Stream("rimea/6", seed, "validation")
    start = fill(stream, (0.3, 0.3), (6.3, 1.7), 20.0 / 6.0 / 1.4 * 1.15)[:20]
    routes = np.array([[(11.0, 1.0), (11.0, 13.5 + _AWAY)]] * len(start))
    longest = 60.0
    seen = walk(model, place, start, routes, longest, speed=speeds(stream, len(start)), tolerance=0.9)
    out = seen.passed(12.0, axis=1)
    x, y = np.moveaxis(seen.position, -1, 0)
    inside = (x > 0.0) & (x < 12.0) & (y > 0.0) & ~((x < 10.0) & (y > 2.0)) | (y > 12.0)
    through = int((~inside).any(0).sum())
    met = through == 0 and bool(np.isfinite(out).all())
    found = f"{through} through a wall, {arrived(out, 'around the corner', longest)}"
    return Case(
        "6: round a corner", "all get around, none through a wall", found, met, {"through": through, "last": finite(out.max())}
    )


def case_9(model: Any, count: int = 1000, seed: int = 0, longest: float = 600.0) -> Case:
    """1,000 people leave a room of 30 x 20 m through four exits 1 m wide, then through two exits; with two exits, they must take
    about twice as long.
    """
    doors = [(7.0, 0), (23.0, 0), (7.0, 1), (23.0, 1)]
    four, by_four = _empty_room(model, doors, count, seed, longest)
    two, by_two = _empty_room(model, doors[:2], count, seed, longest)
    ratio = two / four if np.isfinite(four) and np.isfinite(two) else np.nan
    found = f"{by_four} through four exits, {by_two} through two" + (f", ratio {ratio:.2f}" if np.isfinite(ratio) else "")
    values = {"four": finite(four), "two": finite(two), "ratio": finite(ratio)}
    return Case("9: half of the exits closed", "twice as long (1.8 to 2.2)", found, 1.8 <= ratio <= 2.2, values)


def _empty_room(model: Any, doors: Sequence[tuple[float, int]], count: int, seed: int, longest: float) -> tuple[float, str]:
    """Return the time, s, by which 95 % of the people have left a room, and a text that states this time.

    Args:
        model: crowd model.
        doors: x coordinate of each door, m, and the wall that the door is in: 0 for the lower wall, 1 for the upper wall.
        count: number of people.
        seed: seed of places and preferred speeds.
        longest: time limit, s.
    """
    stream = Stream("rimea/9", seed, "validation")
    gaps = [(x - 0.5, x + 0.5, side) for x, side in doors]
    place = _room((0.0, 0.0, 30.0, 20.0), gaps)
    start = fill(stream, (0.5, 0.5), (29.5, 19.5), 1.1 * count / (29.0 * 19.0))
    start = start[np.argsort(stream.uniform(shape=(len(start),)))][:count]
    exits = np.array([(x, 20.0 if side else 0.0) for x, side in doors])
    mine = exits[np.hypot(*(start[:, None] - exits).transpose(2, 0, 1)).argmin(1)]
    outward = np.where(mine[:, 1] > 10.0, 1.0, -1.0)
    spread = stream.uniform(-20.0, 20.0, (len(start),))
    far = np.stack([mine[:, 0] + spread, mine[:, 1] + outward * _AWAY], -1)
    door = np.stack([mine[:, 0], mine[:, 1] + 0.2 * outward], -1)
    seen = walk(model, place, start, np.stack([door, far], 1), longest, speed=speeds(stream, len(start)), tolerance=0.5, every=10)
    out = ((seen.position[..., 1] < -0.5) | (seen.position[..., 1] > 20.5)).sum(1)
    gone = np.flatnonzero(out >= 0.95 * len(start))
    if not len(gone):
        return np.inf, f"{out[-1]} of {len(start)} out within {longest:.0f} s"
    return float(seen.time[gone[0]]), f"{seen.time[gone[0]]:.0f} s"


def case_12(model: Any, seed: int = 0) -> Case:
    """150 people walk from a room of 10 x 10 m through a corridor of 5 x 1 m to the 1 m wide exit of a second room.

    A jam must form in front of the corridor, but not in front of the exit, which is as wide as the corridor.
    """
    stream = Stream("rimea/12", seed, "validation")
    blocks = [(10.0, 0.0, 15.0, 4.5), (10.0, 5.5, 15.0, 10.0)]
    place = _walled((0.0, 0.0, 25.0, 10.0), blocks, exit_at=(25.0, 4.5, 5.5))
    start = fill(stream, (0.4, 0.4), (6.0, 9.6), 150.0 / (5.6 * 9.2) * 1.08)[:150]
    routes = np.array([[(10.2, 5.0), (15.5, 5.0), (25.2, 5.0), (25.0 + _AWAY, 5.0)]] * len(start))
    seen = walk(model, place, start, routes, 200.0, speed=speeds(stream, len(start)), tolerance=0.6, every=10)
    before, after = (_density(seen, box) for box in ((7.0, 3.0, 10.0, 7.0), (22.0, 3.0, 25.0, 7.0)))
    through = np.sort(seen.passed(15.0)[np.isfinite(seen.passed(15.0))])
    flow = 0.0 if len(through) < 20 else (len(through) - 20) / max(through[-10] - through[9], 1e-9)
    met = before > 2.0 * after and flow > 0.0
    found = f"{before:.2f} /m2 before the corridor, {after:.2f} /m2 before the exit, {flow:.2f} /s through it"
    return Case(
        "12: bottleneck",
        "a jam before the corridor, none before the exit",
        found,
        met,
        {"before": before, "after": after, "flow": flow},
    )


def _density(seen: Walk, box: tuple[float, float, float, float]) -> float:
    """Return the mean density in a box over the time from 10 to 60 s, 1/m2."""
    low, high = np.array(box[:2]), np.array(box[2:])
    part = seen.during(10.0, 60.0).position
    return float(((part >= low) & (part < high)).all(-1).sum(1).mean() / np.prod(high - low))


def _room(box: tuple[float, float, float, float], gaps: Sequence[tuple[float, float, int]]) -> Map:
    """Return a map of a room with gaps in its walls; a gap is given by its start x, its end x, and 0 for the lower or 1 for the
    upper wall.
    """
    x0, y0, x1, y1 = box
    walls = [(x0 - _THICK, y0 - _THICK, x0, y1 + _THICK), (x1, y0 - _THICK, x1 + _THICK, y1 + _THICK)]
    for side, (low, high) in enumerate(((y0 - _THICK, y0), (y1, y1 + _THICK))):
        at = x0
        for begin, end, where in sorted(gaps):
            if where == side:
                walls.append((at, low, begin, high))
                at = end
        walls.append((at, low, x1, high))
    return _of_boxes(walls, box)


def _walled(
    box: tuple[float, float, float, float],
    blocks: Sequence[tuple[float, float, float, float]],
    exit_at: tuple[float, float, float] | None = None,
) -> Map:
    """Return a map of a box with filled blocks inside. The box is open on the right and at the top, or has a single exit, given by
    an x and two y values.
    """
    x0, y0, x1, y1 = box
    walls = [*blocks, (x0 - _THICK, y0 - _THICK, x1 + _THICK, y0), (x0 - _THICK, y0, x0, y1)]
    if exit_at is not None:
        x, low, high = exit_at
        walls += [(x0, y1, x1 + _THICK, y1 + _THICK), (x, y0, x + _THICK, low), (x, high, x + _THICK, y1)]
    elif blocks:
        walls.append((x1, y0, x1 + _THICK, y1))
    else:
        walls.append((x0, y1, x1, y1 + _THICK))
    return _of_boxes(walls, box)


def _of_boxes(walls: Sequence[tuple[float, float, float, float]], box: ArrayLike) -> Map:
    outlines: list[Doubles] = [np.array([(a, b), (c, b), (c, d), (a, d)]) for a, b, c, d in walls]
    x0, y0, x1, y1 = np.asarray(box, float)
    return Map.from_shapes(polygons=outlines, bounds=(x0 - 2.0, y0 - 2.0, x1 + 2.0, y1 + 2.0), resolution=0.05, name="rimea")


CASES = (case_1, case_4, case_6, case_9, case_12)
"""All cases, as functions of a crowd model."""
