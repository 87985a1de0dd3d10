"""Planners that read walls get through narrow places, with every robot that has 0.15 m to spare on each side."""

from __future__ import annotations

import dataclasses

import pytest
from benchmarks.narrow import COLUMNS, kept, rows_of
from tests.learned import wall_readers

from agora.planners.presets import named_planner
from agora.registry import make
from agora.robots.model import load_robot
from agora.testing import ContractError, check_narrow_places, narrow_places
from agora.testing.narrow import CAR, HEAVY, PLACES

TIAGO, JACKAL, BARN = (load_robot(name) for name in ("tiago", "jackal", "jackal_barn"))
SLOWED = dataclasses.replace(TIAGO, name="slowed", vx=(-0.3, 0.3))


@pytest.mark.parametrize("place", ["door", "corridor", "wall", "lane"])
def test_dwa_passes_where_there_is_room_at_every_speed(place):
    check_narrow_places(make("planners", "dwa"), [place], [TIAGO, BARN, SLOWED], starts=2)


def test_dwa_drives_robots_that_gain_speed_slowly():
    check_narrow_places(make("planners", "dwa"), ["slow"], [HEAVY], starts=3)
    check_narrow_places(make("planners", "dwa"), ["slow"], [dataclasses.replace(CAR, vx=(-0.5, 0.5))], starts=1)


def test_the_weights_of_the_package_stand_before_the_door_and_the_contract_says_who():
    with pytest.raises(ContractError, match=r"Dwa: 1 of 1 runs fail: door: tiago, start 0: timeout after"):
        check_narrow_places(named_planner("dwa_ros")[1].part, ["door"], [TIAGO], starts=1)


def test_robots_are_asked_only_where_they_have_room():
    wide = dataclasses.replace(TIAGO, name="wide", radius=0.31)
    assert narrow_places(make("planners", "dwa"), ["door"], [wide]) == []


def test_dwa_turns_a_car_round_whose_goal_is_behind_it():
    check_narrow_places(make("planners", "dwa"), ["slow"], [CAR], starts=3)
    check_narrow_places(make("planners", "dwa"), ["wall"], [CAR, load_robot("f1tenth")], starts=3)


def test_the_table_of_the_manual_has_planners_that_read_walls_in_places_that_there_are():
    assert {(row["planner"], row["place"]) for row in kept()} <= {(name, place) for name in wall_readers() for place in PLACES}
    assert {row["place"] for row in kept() if row["planner"] == "dwa"} == PLACES.keys()
    assert all(row["passed"] == row["asked"] for row in kept() if row["planner"] == "dwa")


@pytest.mark.slow
@pytest.mark.parametrize("name, place", sorted({(row["planner"], row["place"]) for row in kept()}))
def test_whoever_reads_walls_passes_where_the_manual_says_so(name, place):
    rows = [row for row in kept() if (row["planner"], row["place"]) == (name, place)]
    assert rows_of(name, place) == [{column: row[column] for column in COLUMNS} for row in rows]
    assert all(row["date"] and row["commit"] for row in rows)
