"""The effect of robots on people, on walks whose delays and detours are known."""

from __future__ import annotations

import numpy as np
import pytest
from tests.recordings import among, drive

from agora.registry import load

TIME = np.arange(11) * 0.5


def measure(name, *walks, alone, present=True):
    """The value for pedestrians who walk as ``walks``, and without robots as ``alone``."""
    crowd = among(TIME, *walks, present=present)
    without = among(TIME, *alone)["pedestrian_position"]
    return load("metrics", name)(drive(TIME, 0.2 * TIME, 3.0 + 0 * TIME, undisturbed=without, **crowd))


def walk(start, speed, *, pause=(0.0, 0.0), y=1.0):
    """A walk along x that stands during a pause."""
    walked = TIME - np.clip(TIME - pause[0], 0.0, pause[1] - pause[0])
    return start + speed * walked, np.full(len(TIME), y)


FREE, HELD = walk(-2.0, 1.2), walk(-2.0, 1.2, pause=(1.0, 2.5))


def test_whoever_walks_as_without_robots_has_no_displacement_delay_or_detour():
    for name in ("displacement_average", "displacement_max", "delay_average", "delay_max", "detour_average"):
        assert measure(f"pedestrian_{name}", FREE, walk(4.0, 0.0), alone=[FREE, walk(4.0, 0.0)]) == 0.0
    assert measure("pedestrians_affected", FREE, walk(4.0, 0.0), alone=[FREE, walk(4.0, 0.0)]) == 0.0


def test_somebody_who_is_held_up_for_a_while_is_late_by_that_while():
    assert measure("pedestrian_delay_average", HELD, FREE, alone=[FREE, FREE]) == pytest.approx(0.75)
    assert measure("pedestrian_delay_max", HELD, FREE, alone=[FREE, FREE]) == pytest.approx(1.5)
    assert measure("pedestrian_displacement_max", HELD, FREE, alone=[FREE, FREE]) == pytest.approx(1.5 * 1.2)
    assert measure("pedestrians_affected", HELD, FREE, alone=[FREE, FREE]) == 0.5
    expected = 1.2 * np.clip(TIME - 1.0, 0.0, 1.5).mean() / 2
    assert measure("pedestrian_displacement_average", HELD, FREE, alone=[FREE, FREE]) == pytest.approx(expected)


def test_each_time_that_somebody_is_displaced_counts():
    aside = np.array([0.0, 0.0, 0.3, 0.4, 0.05, 0.0, 0.2, 0.2, 0.0, 0.0, 0.0])
    twice, always = (FREE[0], FREE[1] + aside), (FREE[0], FREE[1] + 0.5)
    assert measure("pedestrian_displacements", twice, FREE, alone=[FREE, FREE]) == 2.0
    assert measure("pedestrian_displacements", twice, always, alone=[FREE, FREE]) == 3.0
    assert measure("pedestrian_displacements", FREE, alone=[FREE]) == 0.0


def test_somebody_who_never_gets_away_is_late_by_the_whole_time():
    assert measure("pedestrian_delay_max", walk(-2.0, 0.0), alone=[FREE]) == pytest.approx(5.0)


def test_somebody_who_arrives_late_and_stands_is_late_by_the_difference_of_the_arrivals():
    early, late = (np.minimum(1.0, -2.0 + speed * TIME) for speed in (2.0, 1.0))
    assert measure("pedestrian_delay_max", (late, 1.0), alone=[(early, 1.0)]) == pytest.approx(1.5)
    assert measure("pedestrian_delay_max", (early, 1.0), alone=[(late, 1.0)]) == 0.0


def test_a_waiting_pedestrian_that_is_nudged_is_not_late():
    waits = np.minimum(1.0, -2.0 + 2.0 * TIME)
    nudged = waits + np.where(TIME > 3.0, 0.06, 0.0)
    assert measure("pedestrian_delay_max", (nudged, 1.0), alone=[(waits, 1.0)]) == 0.0


def to_and_fro(late=0.0):
    """Along x from 0 to 3 m and back at 2 m/s, again and again; ``late`` s behind, standing at first."""
    phase = np.clip(TIME - late, 0.0, None) * 2.0 % 6.0
    return np.minimum(phase, 6.0 - phase), np.full(len(TIME), 1.0)


def test_who_is_held_up_where_it_would_pass_twice_is_late_since_the_first_time():
    held = (np.minimum(2.0, 2.0 * TIME), np.full(len(TIME), 1.0))
    assert measure("pedestrian_delay_max", held, alone=[to_and_fro()]) == pytest.approx(5.0 - 1.0)
    assert measure("pedestrian_detour_average", held, alone=[to_and_fro()]) == pytest.approx(0.0)


@pytest.mark.parametrize("late", [0.0, 0.5, 1.5])
def test_who_passes_and_returns_is_compared_with_the_same_pass(late):
    assert measure("pedestrian_delay_max", to_and_fro(late), alone=[to_and_fro()]) == pytest.approx(late)
    assert measure("pedestrian_detour_average", to_and_fro(late), alone=[to_and_fro()]) == pytest.approx(0.0)


def test_who_comes_late_to_where_it_waits_for_a_while_is_late_by_the_difference_of_the_arrivals():
    waits = walk(-2.0, 1.0, pause=(2.0, 4.0))
    assert measure("pedestrian_delay_max", walk(-3.5, 1.0, pause=(3.5, 9.0)), alone=[waits]) == pytest.approx(1.5)


def test_samples_at_which_somebody_is_absent_do_not_count():
    gap = ((TIME < 1.5) | (TIME > 3.0))[:, None]
    nowhere = [np.where(gap[:, 0], part, 77.0) for part in HELD]
    assert measure("pedestrian_delay_max", nowhere, alone=[FREE], present=gap) == pytest.approx(1.5)


def test_somebody_who_got_farther_is_not_late():
    assert measure("pedestrian_delay_max", FREE, alone=[HELD]) == 0.0


def test_a_detour_is_the_longer_way_to_the_same_place():
    x = FREE[0]
    side = np.interp(TIME, [0.0, 1.0, 2.0, 3.0, 5.0], [1.0, 1.0, 1.9, 1.0, 1.0])
    expected = 2 * np.hypot(1.2, 0.9) - 2 * 1.2
    assert measure("pedestrian_detour_average", (x, side), alone=[FREE]) == pytest.approx(expected)
    assert measure("pedestrian_delay_average", (x, side), alone=[FREE]) == 0.0


def test_the_time_before_somebody_comes_and_after_they_left_does_not_count():
    present = ((TIME >= 1.0) & (TIME <= 3.0))[:, None]
    assert measure("pedestrian_delay_max", HELD, alone=[FREE], present=present) == pytest.approx(1.5)
    assert measure("pedestrian_displacement_max", HELD, alone=[FREE], present=present) == pytest.approx(1.8)


@pytest.mark.parametrize("name", ["pedestrian_delay_average", "pedestrian_detour_average", "pedestrians_affected"])
def test_without_people_or_without_the_other_run_nothing_is_defined(name):
    assert load("metrics", name)(drive(TIME, TIME, 0 * TIME, **among(TIME, FREE))) is None
    assert measure(name, alone=[]) is None
