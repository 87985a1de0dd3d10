"""The RiMEA guideline's cases: the default crowd's results, and models that are wrong on purpose fail them."""

import numpy as np
import pytest

from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.waypoint import Waypoint
from agora.validation.rimea import case_1, case_4, case_6, case_9, case_12


def test_one_alone_keeps_the_speed_in_a_corridor_and_a_runner_does_not():
    case = case_1(Helbing())
    assert case.met
    assert case.values["time"] == pytest.approx(40.0 / 1.33, abs=1.0)
    assert not case_1(Helbing(relaxation_time=30.0)).met


def test_the_speed_falls_with_the_density_but_not_where_nobody_is_seen():
    case = case_4(Helbing(), (0.5, 2.0, 3.0))
    assert case.met
    assert case.values["error"] < 0.25
    blind = case_4(Waypoint(), (0.5, 4.0))
    assert blind.values["error"] > 0.7
    assert not blind.met


def test_nobody_goes_through_the_corners_wall_unless_walls_do_nothing():
    case = case_6(Helbing())
    assert case.met
    assert case.values["last"] < 40.0
    assert case_6(Helbing(wall_repulsion=0.0)).values["through"] > 0


def test_the_jam_is_before_the_corridor_and_not_before_the_exit():
    case = case_12(Helbing())
    assert case.met
    assert case.values["before"] > 2 * case.values["after"]
    assert not case_12(Waypoint()).met


def test_half_of_the_exits_take_about_twice_as_long():
    case = case_9(Helbing(), count=160, longest=200.0)
    assert case.values["ratio"] == pytest.approx(2.0, abs=0.5)
    assert np.isfinite(case.values["four"])
