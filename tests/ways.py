"""Recordings made by hand, as scenes that can be cut into stretches."""

import numpy as np

from agora.datasets.eth_ucy import RecordedScene
from agora.maps.grid import Map
from agora.world.trajectories import Trajectories

PLANE = Map.open((-30.3, -31.7), (30.2, 33.1))
TIME = np.arange(24) * 0.4
TURN = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])


def line(start, velocity, time=TIME):
    """Places (T, 2) of somebody who walks straight on, in a frame turned by 0.7 rad and moved."""
    return (np.asarray(start) + time[:, None] * np.asarray(velocity)) @ TURN.T + (1.3, -2.1)


def scene(*ways, map=PLANE, groups=(), times=None):
    """A scene of pedestrians 1, 2, ... who walk given ways (T, 2) from 3.2 s on, or at times of their own."""
    times = [TIME[: len(way)] for way in ways] if times is None else times
    if not ways:
        none = np.zeros(0)
        people = Trajectories(none, none, none, np.zeros(1, np.int32), np.zeros(0, np.int32))
    else:
        ids = np.repeat(np.arange(1, len(ways) + 1), [len(way) for way in ways])
        people = Trajectories.of_rows(np.concatenate(times) + 3.2, ids, *np.concatenate(ways).T)
    return RecordedScene("made", "table", map, people.grouped(groups), np.zeros((0, 2)))
