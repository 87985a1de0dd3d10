"""Episodes that are drawn when they are asked for."""

from __future__ import annotations

import gc
import os
import signal
import weakref
from concurrent.futures.process import BrokenProcessPool

import pytest
from tests.suites import suite, write_world

from agora.tasks.drawn import KEPT, Drawn
from agora.wire.message import encode


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    return suite(write_world(tmp_path_factory.mktemp("room")), episodes=5, crowds=("helbing",))


def same(one, other) -> bool:
    return encode(one) == encode(other)


def test_an_episode_is_the_suites_own_whenever_it_is_drawn(room):
    drawn = Drawn(room, "helbing")
    assert len(drawn) == 5 and len(Drawn(room, "helbing", 9)) == 9
    for number in (3, 0, 3, -1):
        assert same(drawn[number], room.start("helbing", number % 5))
    assert drawn[3] is drawn[3] and [start.entry for start in drawn[1:3]] == ["small/helbing/1", "small/helbing/2"]
    with pytest.raises(IndexError):
        drawn[5]


def test_of_very_many_none_is_kept(room):
    drawn = Drawn(room, "helbing", 10**9)
    start = drawn[10**9 - 1]
    assert start.entry.endswith("/999999999") and len(drawn) > KEPT
    gone = weakref.ref(start)
    del start
    gc.collect()
    assert gone() is None


def test_workers_draw_the_same_episodes_on_the_same_maps(room):
    drawn = Drawn(room, "helbing", 10**6, workers=1)
    numbers = [8, 2, 500_000]
    drawn.soon(numbers)
    drawn.soon(numbers)
    starts = [drawn[number] for number in numbers]
    assert all(same(start, room.start("helbing", number)) for start, number in zip(starts, numbers, strict=True))
    assert all((start.map.occupied == room.start("helbing", 2).map.occupied).all() for start in starts)
    plain = [start for start in starts if not start.map.has_shapes]
    assert len({id(start.map) for start in plain}) <= 1
    drawn.close()


@pytest.mark.parametrize("noticed", [False, True])
def test_when_the_workers_die_the_episodes_are_drawn_here(room, noticed):
    drawn = Drawn(room, "helbing", 10**6, workers=1)
    drawn.soon([1])
    assert same(drawn[1], room.start("helbing", 1))
    for worker in drawn._pool._processes:
        os.kill(worker, signal.SIGKILL)
    if noticed:
        with pytest.raises(BrokenProcessPool):
            drawn._pool.submit(os.getpid).result()
    drawn.soon([2, 3])
    assert same(drawn[2], room.start("helbing", 2)) and same(drawn[3], room.start("helbing", 3))
    drawn.close()
