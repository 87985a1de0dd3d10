"""Trajectories for training predictors: people recorded in ETH/UCY, and people simulated by Agora's crowd models in a suite's
stages.
"""

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
"""Number of future positions to learn, and the time between two future positions, s."""

_LEAP = 3.0  # speed at or above which a displacement is not walking but a restart at another position, m/s


@dataclass(frozen=True, eq=False)
class Walks:
    """The people in W worlds at T times; values in empty slots are meaningless.

    Attributes:
        position: (T, W, P, 2) positions, m.
        velocity: (T, W, P, 2) velocities, m/s.
        present: (T, W, P) whether the slot holds a person.
        id: (T, W, P) identity of the person.
        step: time between two samples, s.
    """

    position: Floats
    velocity: Floats
    present: Bools
    id: Ints
    step: float

    def tracks(self, moment: int) -> Tracks:
        """Return the true states of all people at sample ``moment``, as tracks."""
        present, radius = self.present[moment], np.full(self.present.shape[1:], 0.25, np.float32)
        nobody = np.full(present.shape, -1, np.int32)
        return Tracks(self.position[moment], self.velocity[moment], radius, present, self.id[moment], nobody)


@dataclass(frozen=True, eq=False)
class Samples:
    """S samples: a person at a given instant, and the person's positions afterwards.

    Attributes:
        seen: inputs of the network.
        off: (S, MOMENTS, 2) deviations of the future positions from motion at constant velocity, in each person's own frame, m.
        moments: (MOMENTS,) times of the future positions, s.
    """

    seen: Seen
    off: Floats
    moments: Doubles


def recorded(scene: str) -> Walks:
    """Return the people in an ETH/UCY scene, sampled every 0.4 s; each velocity is the mean over the previous 0.4 s.

    Raises:
        UnknownNameError: there is no scene with this name.
        InputError: the data set is missing.
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
    """Return the people simulated in a stage's first episodes; the people see each other, but not the robots.

    Args:
        suite: name of the suite.
        stage: name of the stage.
        episodes: number of episodes, run in parallel.
        seconds: time from the first to the last sample, s.
        every: time between two samples, s; a multiple of the physics period.
        model: name of the crowd model for everyone; if empty, the stage's own model.
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
    """Return the samples of ``walks``: one per time and person, if the person is present at that time, at the previous time, and
    throughout the next 4.8 s.

    Args:
        walks: trajectories to sample.
        every: sampling stride: samples are taken at every ``every``-th time; people's past positions still include all times.
    """
    ahead = np.array([max(round(k * APART / walks.step), 1) for k in range(1, MOMENTS + 1)])
    parts = list(_moments(walks, ahead, every))
    looked = Seen(*(np.concatenate(part) for part in zip(*(one for one, _ in parts), strict=True)))
    return Samples(looked, np.concatenate([off for _, off in parts]), ahead * walks.step)


def _moments(walks: Walks, ahead: Ints, every: int) -> Iterator[tuple[Seen, Floats]]:
    """Yield, for each time, the network's inputs for the people sampled, and their deviations from constant velocity."""
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
