"""Records that say their axes and defaults: allocation, reset and carrying over follow from what a field says."""

from typing import get_args, get_type_hints

import numpy as np
import pytest

from agora.core.state import SOCIAL_STATES, Minds, RobotTraits, Traits, allocate, carry, minds, of_worlds
from agora.world.records import RUNNING, Events, Fed, ReplayTracks, Status, replay, status

RECORDS = (Minds, RobotTraits, Traits, Events, Fed, ReplayTracks)
LENGTHS = {"W": 3, "P": 32, "R": 2, "V": 5, "E": 7, "D": 4, "N": 11}


def made() -> Status:
    return status(3, 2, 32, delay=3, events=7)


@pytest.mark.parametrize("record", RECORDS)
def test_every_array_has_the_axes_and_the_type_that_its_field_says(record: type) -> None:
    hints = get_type_hints(record, include_extras=True)
    for name, array in allocate(record, **LENGTHS)._asdict().items():
        kind, each = get_args(hints[name])
        assert array.shape == tuple(LENGTHS.get(axis) or int(axis) for axis in each.axes.split()), name
        assert np.dtype[array.dtype.type] == get_args(kind)[1] and array.flags.c_contiguous, name  # type: ignore[name-defined]
        assert (array == array.dtype.type(each.default)).all(), name


def test_a_world_that_nothing_was_reset_in_is_done_and_nobody_has_ended() -> None:
    fresh = made()
    assert fresh.clock.done.all() and fresh.clock.key.dtype == np.uint64
    assert (fresh.ends.outcome == RUNNING).all() and not fresh.goals.arrived.any()
    assert fresh.orders.queue.shape == (3, 2, 4, 3) and fresh.events.there.shape == (3, 7, 6)


def test_a_mind_walks_with_half_its_energy() -> None:
    mind = minds(2, 16)
    assert (mind.state == SOCIAL_STATES.index("walking")).all() and (mind.partner == -1).all()
    assert (mind.energy == np.float32(0.5)).all() and (mind.stress == 0).all() and (mind.speed == 1).all()


def test_clearing_one_world_leaves_the_others_and_what_worlds_share() -> None:
    recorded = replay(3, 32, knots=11)
    for array in recorded:
        array[...] = 4
    for array, default in of_worlds([recorded]):
        array[1] = default
    assert recorded.last[1].tolist() == [-1] * 32 and (recorded.first[1] == 0).all()
    assert (recorded.last[[0, 2]] == 4).all()
    assert (recorded.time == 4).all() and (recorded.x == 4).all()


def test_robots_are_carried_over_by_their_numbers() -> None:
    source, target = status(1, 3, 16, delay=2), status(1, 4, 32, delay=0)
    source.ends.outcome[0] = [5, 6, 7]
    source.touching.robot[0, 2, 0] = True
    source.touching.pedestrian[0, 2, 15] = True
    source.orders.queue[0, :, :, 0] = np.arange(9).reshape(3, 3)
    for old, new in zip(source, target, strict=True):
        carry(old, new, [2, 0])
    assert target.ends.outcome[0].tolist() == [7, 5, RUNNING, RUNNING]
    assert np.argwhere(target.touching.robot[0]).tolist() == [[0, 1]]
    assert np.argwhere(target.touching.pedestrian[0]).tolist() == [[0, 15]]
    assert target.orders.queue[0, :, 0, 0].tolist() == [6, 0, 0, 0]
