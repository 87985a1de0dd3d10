"""Records running episodes: samples at the control rate, and contact events at the physics rate."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from agora.core.contact import closing_of
from agora.core.jit import bind, lean_kernel
from agora.core.recording import Contact, ContactKind
from agora.core.state import Array, Bools
from agora.interfaces import NOTES

if TYPE_CHECKING:
    from agora.engine.observers import Observers
    from agora.interfaces.channel import Reading
    from agora.world.world import World


@lean_kernel
def _sample(
    robots, people, traits, minds, status, cursor, steps, robot_samples, pedestrian_samples, present, group, states, first, last
):
    for w in range(first, last):
        k = cursor[w]
        if k < 0 or k >= steps.shape[1] or (k > 0 and steps[w, k - 1] == status.clock.step[w]):
            continue
        steps[w, k] = status.clock.step[w]
        cursor[w] = k + 1
        for r in range(robots.x.shape[1]):
            s = robot_samples[w, k, r]
            s[0], s[1], s[2] = robots.x[w, r], robots.y[w, r], robots.heading[w, r]
            s[3], s[4], s[5] = robots.vx[w, r], robots.vy[w, r], robots.omega[w, r]
        s = pedestrian_samples[w, k]
        for i in range(people.x.shape[1]):
            s[0, i], s[1, i], s[2, i], s[3, i] = people.x[w, i], people.y[w, i], people.vx[w, i], people.vy[w, i]
            s[4, i], present[w, k, i] = people.heading[w, i], people.active[w, i]
            group[w, k, i] = traits.group[w, i]
        for i in range(states.shape[2]):
            states[w, k, i] = minds.state[w, i]


def take_events(world: World) -> Iterator[tuple[int, int, Contact]]:
    """Yield the contact events of all worlds since the last call, each as (world, robot, contact)."""
    status = world.status
    for w in np.flatnonzero(status.events.count):
        for k in range(min(status.events.count[w], status.events.step.shape[1])):
            r, kind, fraction = int(status.events.robot[w, k]), ContactKind(status.events.kind[w, k]), status.events.fraction[w, k]
            moved = status.events.here[w, k], status.events.there[w, k]
            contact = Contact(
                time=(float(status.events.step[w, k]) + float(fraction)) * world.dt,
                kind=kind,
                party=int(status.events.party[w, k]),
                x=float(status.events.x[w, k]),
                y=float(status.events.y[w, k]),
                closing=closing_of(world.robot_traits, int(w), r, kind, *moved, fraction, world.dt),
            )
            yield int(w), r, contact
    status.events.count[...] = 0


def _stack(arrays: Sequence[Array]) -> Array:
    """Stack arrays along a new axis. Arrays that are shorter along an axis, such as paths, are padded with their last entry."""
    longest = np.max([array.shape for array in arrays], axis=0)
    short = (np.pad(array, [(0, most - own) for most, own in zip(longest, array.shape, strict=True)], "edge") for array in arrays)
    return np.stack(arrays if all(array.shape == arrays[0].shape for array in arrays) else list(short))


class Recorder:
    """Stores the samples of every world of a batch.

    Args:
        world: state of the worlds.
        length: maximum number of samples per episode.
        notes: names of the planner's notes to record (`agora.interfaces.NOTES`).
        states: whether social states are recorded.
    """

    def __init__(self, world: World, length: int, notes: Collection[str] = (), states: bool = False) -> None:
        worlds, robots, slots = world.layout.worlds, world.layout.robots, world.slots
        self._world = world
        self.cursor = np.full(worlds, -1, np.int64)
        self.steps = np.zeros((worlds, length), np.int64)
        self.robots = np.zeros((worlds, length, robots, 6), np.float32)
        self.pedestrians = np.zeros((worlds, length, 5, slots), np.float32)
        self.present = np.zeros((worlds, length, slots), np.bool_)
        self.group = np.full((worlds, length, slots), -1, np.int32)
        self.states = np.zeros((worlds, length, slots if states else 0), np.int8)
        self._commands = np.zeros((worlds, length, robots, 3), np.float32)
        self.door = np.ones((worlds, length if world.doors is not None else 0), np.float32)
        self._notes = {name: np.zeros((worlds, length, robots), NOTES[name]) for name in notes}
        self._events: list[list[tuple[int, Contact]]] = [[] for _ in range(worlds)]
        self._readings: list[list[list[dict[str, Reading]]]] = [[[] for _ in range(robots)] for _ in range(worlds)]
        records = (world.traits, world.minds, world.status)
        samples = (self.robots, self.pedestrians, self.present, self.group, self.states)
        arrays = (*records, self.cursor, self.steps, *samples)
        self._bound = [bind(_sample, robots, people, *arrays) for people, robots in map(world.generation, (0, 1))]

    def start(self, world: int) -> None:
        """Delete the records of a world, and start recording again."""
        self.cursor[world] = 0
        self._events[world] = []
        self._readings[world] = [[] for _ in self._readings[world]]

    def sample(self) -> None:
        """Record the current state, and the contact events since the last call."""
        world = self._world
        self._bound[world.now](0, world.layout.worlds)
        if world.doors is not None:
            taken = np.flatnonzero(self.cursor > 0)
            self.door[taken, self.cursor[taken] - 1] = world.doors.share[taken]
        for w, r, contact in take_events(world):
            self._events[w].append((r, contact))

    def record_notes(self, notes: Mapping[str, Array], active: Bools) -> None:
        """For active rows (N,), record the planner's notes (N,) and the robots' commands at the time of the last sample."""
        rows = np.flatnonzero(active)
        worlds, robots = np.divmod(rows, self._world.layout.robots)
        for name in self._notes.keys() & notes.keys():
            self._notes[name][worlds, self.cursor[worlds] - 1, robots] = notes[name][rows]
        self._commands[worlds, self.cursor[worlds] - 1, robots] = self._world.commands[worlds, robots]

    def recorded_notes(self, world: int, robot: int, samples: slice) -> dict[str, Array]:
        """Return one robot's notes in the given samples, keyed by name, together with its commands."""
        noted = {name: kept[world, samples, robot][:-1] for name, kept in (self._notes | {"command": self._commands}).items()}
        return {name: kept.astype(np.int32 if kept.dtype == np.int8 else np.float64) for name, kept in noted.items()}

    def read(self, observers: Observers, active: Bools) -> None:
        """For the robots in active rows (N,), record the latest readings of the recorded channels."""
        for w, r in zip(*np.divmod(np.flatnonzero(active), self._world.layout.robots), strict=True):
            self._readings[w][r].append(observers.recorded_readings(int(w), int(r)))

    def readings(self, world: int, robot: int, calls: int) -> dict[str, Reading]:
        """Return the readings (calls, ...) of one robot's recorded channels before each of the first ``calls`` planner calls."""
        kept = self._readings[world][robot][:calls]
        first = kept[0] if kept else {}
        return {name: {key: _stack([one[name][key] for one in kept]) for key in reading} for name, reading in first.items()}

    def contacts(self, world: int, robot: int) -> tuple[Contact, ...]:
        """Return the contact events of one robot in chronological order."""
        return tuple(sorted((c for r, c in self._events[world] if r == robot), key=lambda c: (c.time, c.kind, c.party)))

    def samples_until(self, world: int, end_step: int) -> tuple[slice, np.ndarray]:
        """Return the indices of the samples of a robot whose episode ended at a given step, and their times, s; the last sample is
        at the end of the episode.
        """
        steps = self.steps[world, : self.cursor[world]]
        count = int(np.searchsorted(steps, end_step)) + 1
        times = np.minimum(steps[:count], end_step) * self._world.dt
        return slice(0, len(times)), times
