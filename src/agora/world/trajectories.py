"""Recorded motion: a list of knots in time and space for each pedestrian, between which it moves on straight lines at constant
speed.

The state at any time does not depend on a sampling rate. A pedestrian appears at its first knot and disappears at its last knot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agora.core.declared import axes, declared_arrays
from agora.core.state import Bools, Doubles, Ints
from agora.errors import InputError

__all__ = ["Trajectories"]


class Moment(NamedTuple):
    """The pedestrians at a given instant, in the order of the trajectories.

    Attributes:
        position: (n, 2) positions, m; for absent pedestrians, the position of the knot nearest in time.
        velocity: (n, 2) velocities, m/s; 0 for absent pedestrians.
        present: (n,) whether the pedestrian is present.
    """

    position: Doubles
    velocity: Doubles
    present: Bools


@dataclass(frozen=True, eq=False)
class Trajectories:
    """The knots of n pedestrians in flat arrays; pedestrian i has knots ``first[i]`` up to, but not including, ``first[i + 1]``.
    Arrays are read-only.

    Attributes:
        knot_time: (K,) times of the knots, s, increasing for each pedestrian.
        knot_x: (K,) positions of the knots, x, m.
        knot_y: (K,) positions of the knots, y, m.
        first: (n + 1,) index of the first knot of each pedestrian, followed by K.
        id: (n,) unique ids.
        group: (n,) number of the walking group, -1 if none.
        period: (n,) period with which the trajectory, starting at its first knot, repeats both before and after its knots, s; 0 if
            it does not repeat.
        body: (n,) number of the rigid body to which this disc belongs, -1 for an independent disc. The discs of a body are
            adjacent.

    Raises:
        InputError: array sizes do not match, a value is non-finite, times do not increase, or the discs of a body are not adjacent.
    """

    knot_time: Doubles = field(metadata=axes("K"))
    knot_x: Doubles = field(metadata=axes("K"))
    knot_y: Doubles = field(metadata=axes("K"))
    first: Ints = field(metadata=axes("N", np.int32))
    id: Ints = field(metadata=axes("N-1", np.int32))
    group: Ints = field(default_factory=lambda: np.zeros(0, np.int32), metadata=axes("N-1", np.int32))
    period: Doubles = field(default_factory=lambda: np.zeros(0), metadata=axes("N-1"))
    body: Ints = field(default_factory=lambda: np.zeros(0, np.int32), metadata=axes("N-1", np.int32))

    def __post_init__(self) -> None:
        """Copy, check and freeze the arrays."""
        n = len(self.id)
        if len(self.group) == 0 and n:
            object.__setattr__(self, "group", np.full(n, -1))
        if len(self.body) == 0 and n:
            object.__setattr__(self, "body", np.full(n, -1))
        if len(self.period) == 0 and n:
            object.__setattr__(self, "period", np.zeros(n))
        for name, one in declared_arrays(Trajectories).items():
            self._freeze(name, one.kind)
        knots = len(self.knot_time)
        each = {len(self.group), len(self.period), len(self.body), len(self.first) - 1}
        if {len(self.knot_x), len(self.knot_y)} != {knots} or each != {n}:
            raise InputError("trajectories: the arrays have inconsistent shapes")
        if self.first[0] != 0 or self.first[-1] != knots or (np.diff(self.first) < 1).any():
            raise InputError("trajectories: every pedestrian needs at least one knot")
        if not all(np.isfinite(a).all() for a in (self.knot_time, self.knot_x, self.knot_y, self.period)):
            raise InputError("trajectories: a number is not finite")
        late = np.ones(knots, np.bool_)
        late[1:] = np.diff(self.knot_time) > 0
        late[self.first[:-1]] = True
        if not late.all():
            who = self.id[np.searchsorted(self.first, np.argmin(late), side="right") - 1]
            raise InputError(f"trajectories: the times of pedestrian {who} do not increase")
        if len(np.unique(self.id)) < n:
            raise InputError("trajectories: an id occurs twice")
        if ((self.period != 0) & (self.period < self.end - self.start)).any():
            raise InputError("trajectories: a period is shorter than the trajectory")
        begins = self.body[np.append(True, np.diff(self.body) != 0)] if n else self.body
        if len(np.unique(begins[begins >= 0])) < (begins >= 0).sum():
            raise InputError("trajectories: the discs of a body are not consecutive")

    def _freeze(self, name: str, kind: Any) -> None:
        array = np.array(getattr(self, name), kind)
        if array.ndim != 1:
            raise InputError(f"trajectories: {name} must have one axis")
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    @classmethod
    def of_rows(cls, time: ArrayLike, id: ArrayLike, x: ArrayLike, y: ArrayLike, *, longest_gap: float = np.inf) -> Trajectories:
        """Return the trajectories for rows (time, id, x, y) in any order, sorted by id.

        Args:
            time: (K,) times, s.
            id: (K,) ids, integers.
            x: (K,) positions, x, m.
            y: (K,) positions, y, m.
            longest_gap: maximum time between two rows with the same id, s. A pedestrian that reappears after a longer gap becomes a
                new pedestrian, with the next id above all existing ids; new ids are assigned in the order of old id, then time.

        Raises:
            InputError: a pedestrian occurs twice at the same time, an id is not an integer, or a value is non-finite.
        """
        times, numbers = np.asarray(time, np.float64), np.asarray(id, np.float64)
        if not ((numbers == np.rint(numbers)) & (np.abs(numbers) < 2**31)).all():
            raise InputError("trajectories: the id of a pedestrian must be an integer below 2^31")
        order = np.lexsort((times, numbers))
        ids, times = numbers[order].astype(np.int64), times[order]
        places = [np.asarray(column, np.float64)[order] for column in (x, y)]
        back = np.append(False, (np.diff(ids) == 0) & (np.diff(times) > longest_gap))[: len(ids)]
        if back.any():
            came = np.cumsum(back)
            again = came > came[np.searchsorted(ids, ids)]
            ids = np.where(again, ids.max() + came, ids)
            order = np.argsort(ids, kind="stable")
            ids, times, places = ids[order], times[order], [column[order] for column in places]
            if ids[-1] >= 2**31:
                raise InputError("trajectories: the ids are so large that none is left for pedestrians that return")
        known, first = np.unique(ids, return_index=True)
        return cls(times, places[0], places[1], np.append(first, len(ids)).astype(np.int32), known.astype(np.int32))

    @property
    def count(self) -> int:
        """Number of pedestrians, n."""
        return len(self.id)

    @property
    def start(self) -> Doubles:
        """(n,) time of the first knot, s."""
        return self.knot_time[self.first[:-1]]

    @property
    def end(self) -> Doubles:
        """(n,) time of the last knot, s."""
        return self.knot_time[self.first[1:] - 1]

    def at(self, time: float) -> Moment:
        """Return the state of the pedestrians at a time, s. Each pedestrian is present from its first knot up to, but not
        including, its last knot.
        """
        start, length = self.start, self.end - self.start
        once = self.period == 0
        turns = np.floor((time - start) / np.where(once, 1.0, self.period))
        local = np.where(once, time, time - turns * self.period)
        local = np.where(~once & ((local < start) | (local >= start + self.period)), start, local)
        present = (local >= start) & (local < start + length)
        knot = self._knot_before(local)
        after = np.minimum(knot + 1, self.first[1:] - 1)
        span = self.knot_time[after] - self.knot_time[knot]
        share = np.clip(np.divide(local - self.knot_time[knot], span, where=span > 0, out=np.zeros(self.count)), 0.0, 1.0)
        here = np.stack((self.knot_x[knot], self.knot_y[knot]), -1)
        step = np.stack((self.knot_x[after], self.knot_y[after]), -1) - here
        moves = (present & (span > 0))[:, None]
        velocity = np.divide(step, span[:, None], where=moves, out=np.zeros_like(step))
        return Moment(here + share[:, None] * step, velocity, present)

    def _knot_before(self, time: Doubles) -> Ints:
        """Return the index of each pedestrian's last knot that is not after its time, or of its first knot if all knots are later.
        The bisection runs for all pedestrians at once.
        """
        low, high = self.first[:-1].copy(), self.first[1:].copy()
        while (high - low > 1).any():
            middle = (low + high) // 2
            passed = self.knot_time[middle] <= time
            low, high = np.where(passed, middle, low), np.where(passed, high, middle)
        return low

    def moved(self, matrix: ArrayLike = ((1, 0), (0, 1)), offset: ArrayLike = (0, 0), delay: float = 0.0) -> Trajectories:
        """Return the trajectories with positions transformed to ``matrix @ position + offset`` and times delayed by ``delay``
        seconds.
        """
        linear, shift = np.asarray(matrix, np.float64), np.asarray(offset, np.float64)
        x = linear[0, 0] * self.knot_x + linear[0, 1] * self.knot_y + shift[0]
        y = linear[1, 0] * self.knot_x + linear[1, 1] * self.knot_y + shift[1]
        return replace(self, knot_time=self.knot_time + delay, knot_x=x, knot_y=y)

    def only(self, keep: ArrayLike) -> Trajectories:
        """Return the trajectories of the pedestrians selected by the mask (n,)."""
        mask = np.asarray(keep, np.bool_)
        lengths = np.diff(self.first)
        knots = np.repeat(mask, lengths)
        first = np.append(0, np.cumsum(lengths[mask])).astype(np.int32)
        time, x, y = self.knot_time[knots], self.knot_x[knots], self.knot_y[knots]
        return Trajectories(time, x, y, first, self.id[mask], self.group[mask], self.period[mask], self.body[mask])

    def grouped(self, groups: Iterable[Sequence[int]]) -> Trajectories:
        """Return the same trajectories with walking groups, each given by its members' ids.

        A pedestrian is in at most one group, so groups that share a member are merged. Unknown ids are ignored, and so are groups
        with fewer than two remaining members.
        """
        number = np.full(self.count, -1, np.int32)
        row = {int(who): i for i, who in enumerate(self.id)}
        for new, members in enumerate(groups):
            rows = [row[who] for who in set(members) if who in row]
            if len(rows) >= 2:
                old = [g for g in number[rows] if g >= 0]
                number[np.isin(number, old)] = new
                number[rows] = new
        used = np.unique(number[number >= 0])
        return replace(self, group=np.where(number >= 0, np.searchsorted(used, number), -1))

    def overlapping(self, begin: float, end: float) -> Bools:
        """Return a mask (n,) of the pedestrians who are present at some time in [begin, end], s."""
        return (self.period > 0) | ((self.start <= end) & (self.end > begin))

    def mean_speed(self) -> float:
        """Return the mean speed: the total distance walked by all pedestrians, divided by their total time, m/s (0 at rest)."""
        inner = np.ones(max(len(self.knot_time) - 1, 0), np.bool_)
        inner[self.first[1:-1] - 1] = False
        way = np.hypot(np.diff(self.knot_x), np.diff(self.knot_y))[inner].sum()
        time = np.diff(self.knot_time)[inner].sum()
        return float(way / time) if time > 0 else 0.0


def joined(parts: Sequence[Trajectories]) -> Trajectories:
    """Combine several `Trajectories`; their groups and bodies are kept separate.

    Raises:
        InputError: an id occurs in more than one of them.
    """
    if not parts:
        none = np.zeros(0)
        return Trajectories(none, none, none, np.zeros(1, np.int32), np.zeros(0, np.int32))
    knots = np.cumsum([0, *(len(part.knot_time) for part in parts)])
    numbers = {name: _apart([getattr(part, name) for part in parts]) for name in ("group", "body")}
    first = [part.first[:-1] + k for part, k in zip(parts, knots[:-1], strict=True)]
    return Trajectories(
        knot_time=np.concatenate([part.knot_time for part in parts]),
        knot_x=np.concatenate([part.knot_x for part in parts]),
        knot_y=np.concatenate([part.knot_y for part in parts]),
        first=np.append(np.concatenate(first), knots[-1]).astype(np.int32),
        id=np.concatenate([part.id for part in parts]),
        period=np.concatenate([part.period for part in parts]),
        **numbers,
    )


def _apart(parts: Sequence[Ints]) -> Ints:
    """Concatenate the numbers of several parts (-1 for none), renumbered so that no number occurs in two parts."""
    shifts = np.cumsum([0, *(part.max(initial=-1) + 1 for part in parts)])[:-1]
    return np.concatenate([np.where(part < 0, -1, part + shift) for part, shift in zip(parts, shifts, strict=True)])
