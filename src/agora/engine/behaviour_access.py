"""Behaviours' access to a world: the fields that they may write, and the check that their decisions are valid."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from agora.core.answers import blame
from agora.core.jit import bind, lean_kernel
from agora.core.state import LEAVE, REACTIONS, SOCIAL_STATES, TYPES, Pedestrians, Robots, Waypoints, read_only
from agora.errors import ComponentError
from agora.ranges import LARGEST
from agora.world.world import World

if TYPE_CHECKING:
    from typing import Any

    from agora.interfaces import AttachedBehaviour, Behaviour
    from agora.world.start import Start
    from agora.world.threads import Work

_FAR = np.float32(LARGEST)
_NOTHING, _SPEED, _WAYPOINT, _LIST, _MIND, _HEADING = range(6)


@lean_kernel
def _find_impossible(people, traits, waypoints, minds, clock, wrong, first, last):
    """For each world, write to ``wrong`` (W, 2) the first slot whose pedestrian has an invalid value, and the kind of value."""
    room = waypoints.list_x.shape[2]
    for w in range(first, last):
        wrong[w, 0], wrong[w, 1] = -1, _NOTHING
        for i in range(0 if clock.done[w] else traits.count[w]):
            speed, x, y = traits.speed[w, i], waypoints.x[w, i], waypoints.y[w, i]
            k, n, mode, tolerance = waypoints.index[w, i], waypoints.count[w, i], waypoints.mode[w, i], waypoints.tolerance[w, i]
            what = _NOTHING
            if not 0 <= speed <= _FAR:
                what = _SPEED
            elif not (abs(x) <= _FAR and abs(y) <= _FAR):
                what = _WAYPOINT
            elif not (0 <= k < room and 0 <= n <= room and 0 <= mode <= LEAVE and 0 <= tolerance <= _FAR):
                what = _LIST
            elif not (
                0 <= minds.type[w, i] < len(TYPES)
                and 0 <= minds.reaction[w, i] < len(REACTIONS)
                and 0 <= minds.state[w, i] < len(SOCIAL_STATES)
            ):
                what = _MIND
            elif not abs(people.heading[w, i]) <= _FAR:
                what = _HEADING
            if what != _NOTHING and people.active[w, i]:
                wrong[w, 0], wrong[w, 1] = i, what
                break


class BehaviourAccess:
    """A behaviour attached to a world, with write access to some of its fields.

    The behaviour gets a view of the world in which it may write current waypoints, the modes of waypoint lists, preferred speeds,
    groups, minds and headings; everything else is read-only.

    Args:
        behaviour: behaviour to attach.
        world: world of the pedestrians.
        every: as for `agora.interfaces.Behaviour.attach`.
        sees: as for `agora.interfaces.Behaviour.attach`.

    Attributes:
        attached: the attached behaviour.
    """

    def __init__(self, behaviour: Behaviour, world: World, every: int, sees: int) -> None:
        self._name, self._world = f"behaviour {type(behaviour).__name__}", world
        self._blame = nullcontext if type(behaviour).__module__.partition(".")[0] == "agora" else blame
        with self._blame(self._name):
            self.attached: AttachedBehaviour = behaviour.attach(_View(world), every, sees)
        if not all(callable(getattr(self.attached, name, None)) for name in ("reset", "think")):
            found = type(self.attached).__name__
            raise ComponentError(f"{self._name}: attach returned {found}; expected an object with the methods reset and think")
        self._wrong = np.full((world.layout.worlds, 2), -1, np.int32)

    def reset(self, world: int, start: Start) -> None:
        """Start an episode in one world."""
        with self._blame(self._name):
            self.attached.reset(world, start)

    def think(self, generation: int) -> Work:
        """Return a function of (first, last) that makes the behaviour's decisions for worlds ``first <= w < last``.

        The function raises `ComponentError` if the behaviour's code raises an exception, or gives a pedestrian an invalid speed,
        waypoint, waypoint list, mind or heading.
        """
        w, wrong, name, within = self._world, self._wrong, self._name, self._blame
        with within(name):
            decide = self.attached.think(generation)
        if not callable(decide):
            raise ComponentError(f"{name}: think returned {type(decide).__name__}; expected a function of first and last")
        look = bind(_find_impossible, w.generation(generation)[0], w.traits, w.waypoints, w.minds, w.status.clock, wrong)

        def work(first: int, last: int) -> None:
            with within(name):
                decide(first, last)
            look(first, last)
            if wrong[first:last, 1].any():
                raise self._error(first + int(np.argmax(wrong[first:last, 1] != _NOTHING)))

        return work

    def _error(self, world: int) -> ComponentError:
        """Return the error that describes the first invalid value in a world."""
        slot, what = self._wrong[world].tolist()
        goals, minds, traits = self._world.waypoints, self._world.minds, self._world.traits

        def at(*fields: Any) -> str:
            return ", ".join(f"{field[world, slot]:g}" for field in fields)

        says = {
            _SPEED: f"the preferred speed {at(traits.speed)} m/s; expected a number of at least 0",
            _WAYPOINT: f"the waypoint ({at(goals.x, goals.y)}); expected two numbers in m",
            _LIST: "a list of waypoints with index, count, mode and tolerance "
            f"{at(goals.index, goals.count, goals.mode, goals.tolerance)}; expected an index below and a count up to "
            f"{goals.list_x.shape[2]}, a mode of 0 to {LEAVE} and a tolerance of at least 0",
            _MIND: f"type, reaction and state {at(minds.type, minds.reaction, minds.state)}; "
            f"expected numbers below {len(TYPES)}, {len(REACTIONS)} and {len(SOCIAL_STATES)}",
            _HEADING: f"the heading {at(self._world.pedestrians.heading)} rad; expected a finite number",
        }[what]
        return ComponentError(f"{self._name} gives pedestrian {traits.id[world, slot]} {says}")


class _View(World):
    """A world as a behaviour sees it; its arrays share memory with the world's, and most of them are read-only."""

    def __init__(self, world: World) -> None:
        self._of = world
        self.layout, self.dt, self.slots = world.layout, world.dt, world.slots
        self.traits = _guard_record(world.traits, "speed", "group")
        self.waypoints = _guard_record(
            world.waypoints, *(name for name in Waypoints._fields if not name.startswith("list_") and name != "enters")
        )
        self.minds = world.minds
        self.maps, self.replay, self.robot_traits = map(_guard_record, (world.maps, world.replay, world.robot_traits))
        self.status, self.commands = type(world.status)(*map(_guard_record, world.status)), read_only(world.commands)
        self._pedestrians: list[Pedestrians] = [_guard_record(world.generation(k)[0], "heading") for k in range(2)]
        self._robots: list[Robots] = [_guard_record(world.generation(k)[1]) for k in range(2)]

    @property
    def now(self) -> int:  # type: ignore[override]
        """Index of generation t, 0 or 1."""
        return self._of.now

    @property
    def tick(self) -> int:  # type: ignore[override]
        """Number of steps since the world was created."""
        return self._of.tick


def _guard_record(record: Any, *writable: str) -> Any:
    """Return a record whose arrays are read-only, except for the ``writable`` ones."""
    return type(record)(*(
        array if name in writable else read_only(array) for name, array in zip(record._fields, record, strict=True)
    ))  # fmt: skip
