"""Walks to learn prediction from: people of ETH/UCY, and people whom Agora's crowd models move in a suite's stages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from agora.core.state import Array, Bools, Doubles, Floats, Ints
from agora.datasets.eth_ucy import read_scene
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.interfaces import Memory, Tracks
from agora.predictors.motion_seen import Seen, seen, turned
from agora.registry import make
from agora.tasks.suite import load_suite

RECORDED = 0.4
"""Time between two samples of a recording, s."""

MOMENTS, APART = 12, 0.4
"""How many places ahead are learned, and the time between two, s."""

_LEAP = 3.0  # m/s and more is no walk: somebody begins anew elsewhere


@dataclass(frozen=True, eq=False)
class Walks:
    """The people of W worlds at T moments; empty slots mean nothing.

    Attributes:
        position: (T, W, P, 2) m.
        velocity: (T, W, P, 2) m/s.
        present: (T, W, P) whether the slot holds somebody.
        id: (T, W, P) identity.
        step: time between two moments, s.
    """

    position: Floats
    velocity: Floats
    present: Bools
    id: Ints
    step: float

    def tracks(self, moment: int) -> Tracks:
        """Return what a robot that knows the truth knows at a moment."""
        present, radius = self.present[moment], np.full(self.present.shape[1:], 0.25, np.float32)
        nobody = np.full(present.shape, -1, np.int32)
        return Tracks(self.position[moment], self.velocity[moment], radius, present, self.id[moment], nobody)


@dataclass(frozen=True, eq=False)
class Samples:
    """S people at a moment, and where they were then.

    Attributes:
        seen: what the network reads of them.
        off: (S, MOMENTS, 2) by how much they left the way at constant velocity, in their own frames, m.
        moments: (MOMENTS,) times of the places, s.
    """

    seen: Seen
    off: Floats
    moments: Doubles


def recorded(scene: str) -> Walks:
    """Return the people of a scene of ETH/UCY every 0.4 s; the velocity is that of the last 0.4 s.

    Raises:
        UnknownNameError: no such scene.
        InputError: the data set is not there.
    """
    people = read_scene(scene).trajectories
    begin, end = float(people.start.min()), float(people.end.max())
    moments = [people.at(begin + k * RECORDED + 1e-6) for k in range(round((end - begin) / RECORDED))]
    present = np.array([moment.present for moment in moments])
    position = np.where(present[..., None], np.array([moment.position for moment in moments]), 0.0)
    velocity = np.zeros_like(position)
    velocity[1:] = np.where((present[1:] & present[:-1])[..., None], np.diff(position, axis=0) / RECORDED, 0.0)
    who = np.broadcast_to(np.arange(people.count, dtype=np.int32), present.shape)
    places = (position[:, None].astype(np.float32), velocity[:, None].astype(np.float32))
    return Walks(*places, present[:, None], who[:, None], RECORDED)


def simulated(suite: str, stage: str, episodes: int, *, seconds: float, every: float, model: str = "") -> Walks:
    """Return the people of a stage's first episodes, who see each other and no robot.

    Args:
        suite: name of the suite.
        stage: name of the stage.
        episodes: how many, side by side.
        seconds: time from the first moment to the last, s.
        every: time between two moments, s; a multiple of the physics period.
        model: name of the crowd model of everybody; the stage's own if empty.
    """
    chosen = load_suite(suite)
    conditions = replace(Conditions.of(chosen.stage(stage)), ends=0, sees_robots=False)
    if model:
        conditions = replace(conditions, crowd=tuple(make("crowd_models", model) for _ in conditions.models))
    starts = [chosen.start(stage, number) for number in range(episodes)]
    engine = Engine.of(starts, conditions, worlds=episodes)
    for world, start in enumerate(starts):
        engine.reset(world, start)
    steps = round(every / conditions.periods.physics)
    rows: list[tuple[Array, ...]] = []
    for tick in range(round(seconds / conditions.periods.physics) + 1):
        if tick % steps == 0:
            now, who = engine.world.pedestrians, engine.world.traits.id
            rows.append((np.stack((now.x, now.y), -1), np.stack((now.vx, now.vy), -1), now.active.copy(), who.copy()))
        engine.step()
    engine.close()
    position, velocity, present, identity = (np.array(part) for part in zip(*rows, strict=True))
    return Walks(position, velocity, present, identity, every)


def samples_of(walks: Walks, every: int = 1) -> Samples:
    """Return everybody who is there at a moment and the one before, and for all of the next 4.8 s.

    Args:
        walks: what is learned from.
        every: only each so many moments are taken; the past is that of all.
    """
    ahead = np.array([max(round(k * APART / walks.step), 1) for k in range(1, MOMENTS + 1)])
    parts = list(_moments(walks, ahead, every))
    looked = Seen(*(np.concatenate(part) for part in zip(*(one for one, _ in parts), strict=True)))
    return Samples(looked, np.concatenate([off for _, off in parts]), ahead * walks.step)


def _moments(walks: Walks, ahead: Ints, every: int) -> Iterator[tuple[Seen, Floats]]:
    """Yield the people who count at each moment, and by how much they then leave the way at constant velocity."""
    place, last = walks.position, int(ahead[-1])
    memory: Memory = {}
    for moment in range(len(place) - last):
        tracks = walks.tracks(moment)
        looked, memory = seen(tracks, memory, walks.step)
        if not moment or moment % every:
            continue
        span = slice(moment - 1, moment + last + 1)
        stays = (walks.present[span] & (walks.id[span] == tracks.id)).all(0)
        leaps = np.linalg.norm(np.diff(place[moment : span.stop], axis=0), axis=-1).max(0) > _LEAP * walks.step + 0.5
        counts = (stays & ~leaps)[tracks.present]
        times = (ahead * walks.step)[:, None, None, None]
        off = np.moveaxis(place[moment + ahead] - place[moment] - times * tracks.velocity, 0, 2)[tracks.present][counts]
        yield Seen(*(part[counts] for part in looked)), turned(off, looked.axis[counts][:, None]).astype(np.float32)
