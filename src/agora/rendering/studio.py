"""Renders the worlds of a batch: scenes are compiled once per map, and people are animated between images."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import Array, Bools, Doubles, Ints
from agora.maps.place import Place
from agora.rendering.gait import Moving, frames, stride
from agora.rendering.scene import Scene
from agora.rendering.shapes import Looks, looks_of
from agora.rendering.view import View

if TYPE_CHECKING:
    from agora.maps.furniture import Furniture
    from agora.maps.grid import Map
    from agora.robots.model import RobotModel
    from agora.world.start import Start
    from agora.world.world import World

__all__ = ["Studio"]

_SCENES, _VIEWS = 256, 96  # maximum number of scenes kept in the process, and of views kept in each thread
_JUMP = 2.0  # maximum distance walked between two images, m; a person who moved farther was relocated

_lock = threading.Lock()
_scenes: OrderedDict[Any, tuple[Scene, Map]] = OrderedDict()
_local = threading.local()


def furniture_of(start: Start) -> tuple[Furniture, ...]:
    """Return all furniture in an episode."""
    return (*start.furniture, *(thing.furniture for thing in start.things if thing.kind == "static"))


def scene_of(map: Map, furniture: tuple[Furniture, ...], robots: Sequence[RobotModel], slots: int) -> Scene:
    """Return the scene of a map, which is compiled once and shared.

    Raises:
        InputError: MuJoCo is not installed.
    """
    key = id(map), furniture, tuple(robots), slots
    with _lock:
        if key in _scenes:
            _scenes.move_to_end(key)
        else:
            _scenes[key] = Scene.of(Place(map, furniture), robots, slots), map
            while len(_scenes) > _SCENES:
                _scenes.popitem(last=False)
        return _scenes[key][0]


def view_of(scene: Scene) -> View:
    """Return this thread's view of a scene.

    Raises:
        InputError: off-screen rendering is not available on this machine.
    """
    if getattr(_local, "process", None) != os.getpid():  # a process's rendering contexts cannot be used in a process forked from it
        _local.process, _local.views = os.getpid(), OrderedDict()
    views: OrderedDict[int, View] = _local.views
    if id(scene) in views:
        views.move_to_end(id(scene))
    else:
        views[id(scene)] = View(scene)
        while len(views) > _VIEWS:
            views.popitem(last=False)[1].close()
    return views[id(scene)]


class Studio:
    """Renders a batch of worlds.

    The gait follows the distance walked between calls of `walk`, so that planted feet do not slide; it is reset at the start of
    each episode.

    Args:
        world: worlds of the batch.
    """

    def __init__(self, world: World) -> None:
        shape = (world.layout.worlds, world.slots)
        self._world = world
        self._place: Doubles = np.full((2, *shape), np.nan)
        self._phase: Doubles = np.zeros(shape)
        self._known: list[tuple[Ints, Ints] | None] = [None] * shape[0]
        self._looks: list[Looks | None] = [None] * shape[0]
        self._scenes: list[tuple[Start, Scene] | None] = [None] * shape[0]

    def forget(self, w: int) -> None:
        """Reset the gait of everyone in a world in which an episode begins."""
        self._place[:, w], self._known[w], self._looks[w] = np.nan, None, None

    def walk(self, w: int) -> None:
        """Advance the gait of the people in a world to their current positions."""
        people, start = self._world.pedestrians, self._world.starts[w]
        assert start is not None
        identity, kind = self._world.traits.id[w], self._world.minds.type[w]
        known = self._known[w]
        if known is None or not (np.array_equal(known[0], identity) and np.array_equal(known[1], kind)):
            self._know(w, identity, kind)
        looks = self._looks[w]
        assert looks is not None
        here = np.stack([people.x[w], people.y[w]]).astype(np.float64)
        way = np.hypot(*(here - self._place[:, w]))
        way = np.where(np.isfinite(way) & (way < _JUMP), way, 0.0)
        self._phase[w] += way / stride(looks, self._speed(w))
        self._place[:, w] = np.where(people.active[w], here, np.nan)

    def _know(self, w: int, identity: Ints, kind: Ints) -> None:
        """Update the record of who is in which slot."""
        scene, before, traits = self._scene(w), self._known[w], self._world.traits
        looks = looks_of(self._world.status.clock.key[w], identity, kind, traits.body[w], traits.radius[w], scene.names)
        new = np.ones(len(identity), np.bool_) if before is None else (before[0] != identity) | (before[1] != kind)
        self._phase[w, new], self._place[:, w, new] = looks.phase[new], np.nan
        self._known[w], self._looks[w] = (identity.copy(), kind.copy()), looks

    def _speed(self, w: int) -> Doubles:
        people = self._world.pedestrians
        return np.asarray(np.hypot(people.vx[w], people.vy[w]), np.float64)

    def _scene(self, w: int) -> Scene:
        start, held = self._world.starts[w], self._scenes[w]
        assert start is not None
        if held is None or held[0] is not start:
            models = [robot.model for robot in start.robots]
            self._scenes[w] = held = start, scene_of(start.map, furniture_of(start), models, self._world.slots)
        return held[1]

    def view(self, w: int) -> View:
        """Return this thread's view of a world in its current state.

        Raises:
            InputError: MuJoCo is not installed, or off-screen rendering is not available on this machine.
        """
        world, people, looks = self._world, self._world.pedestrians, self._looks[w]
        assert looks is not None, "no pedestrian has walked"
        view = view_of(self._scene(w))
        moving = Moving(
            people.x[w].astype(np.float64),
            people.y[w].astype(np.float64),
            people.heading[w].astype(np.float64),
            self._speed(w),
            self._phase[w],
            world.minds.state[w],
            float(world.status.clock.step[w]) * world.dt,
        )
        there: Bools = people.active[w] & (np.arange(world.slots) < world.traits.count[w])
        view.dress(looks)
        door = 1.0 if world.doors is None else float(world.doors.share[w])
        view.pose(frames(looks, moving), there, self.poses(w), world.robots.active[w], door)
        return view

    def poses(self, w: int) -> Array:
        """Return the poses (R, 3) of a world's robots, m and rad."""
        robots = self._world.robots
        return np.stack([robots.x[w], robots.y[w], robots.heading[w]], axis=1).astype(np.float64)
