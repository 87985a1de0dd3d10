"""Which episodes of a run are played and filmed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agora.reporting.failures import choose, episodes_to_film, failures_to_film, recordings_that_fit, titles
from viewer.synthetic import episode


def row(planner, stage, number, outcome="reached", robot=0):
    key = f"demo/{stage}/{number}/{planner}/{robot}"
    named = {"key": key, "suite": "demo", "stage": stage, "episode": number, "seed": 7, "planner": planner, "robot": robot}
    return {**named, "outcome": outcome}


def table(planners="ab", stages=("hall", "ward", "door", "lane"), lost=()):
    """Three episodes of each planner in each stage, of which those in ``lost`` hit a wall."""
    names = [(planner, stage, number) for planner in planners for stage in stages for number in range(3)]
    return [row(*name, "wall_collision" if name in lost else "reached") for name in names]


def shown(keys):
    """Planner, stage and number of each film."""
    return [(key.split("/")[3], key.split("/")[1], int(key.split("/")[2])) for key, *_ in keys]


def test_one_film_of_each_of_four_planners_shows_four_stages():
    films = shown(episodes_to_film(table("abcd"), 1))
    assert [planner for planner, _, _ in films] == list("abcd")
    assert {stage for _, stage, _ in films} == {"hall", "ward", "door", "lane"}


@pytest.mark.parametrize("lost", [("a", "door", 2), ("b", "lane", 1)])
def test_a_failure_is_filmed_where_there_is_one_and_then_a_success(lost):
    films = shown(episodes_to_film(table(lost=(lost, ("b", "ward", 0))), 2))
    assert lost in films and len(films) == len(set(films)) == 4
    assert len({stage for _, stage, _ in films}) == 4


def test_failures_and_successes_take_turns_where_all_stages_have_both():
    lost = [("a", stage, 1) for stage in ("hall", "ward", "door", "lane")]
    films = shown(episodes_to_film(table("a", lost=lost), 4))
    assert [film in lost for film in films] == [True, False, True, False]


def test_no_more_films_are_made_than_there_are_episodes_and_none_where_none_is_asked_for():
    assert len(episodes_to_film(table("a", ("hall",)), 9)) == 3
    assert episodes_to_film(table(), 0) == episodes_to_film([], 3) == []


def test_every_failure_is_filmed_with_all_its_robots_one_film_an_episode():
    rows = [row("a", "hall", 1, "timeout", robot=1), row("a", "hall", 1), row("a", "hall", 0), row("b", "hall", 0, "timeout")]
    assert failures_to_film(rows) == [["demo/hall/1/a/0", "demo/hall/1/a/1"], ["demo/hall/0/b/0"]]


def test_a_title_names_planner_suite_stage_episode_and_seed_and_the_robot_where_there_are_several():
    one, two = row("a", "hall", 3), row("a", "hall", 3, robot=1)
    assert titles([one]) == {one["key"]: "a · demo: hall, episode 3, seed 7"}
    assert titles([one | {"planner": "a · truth"}], ["a"]) == {
        one["key"]: "a · truth (reads no walls) · demo: hall, episode 3, seed 7"
    }
    assert titles([one, two])[two["key"]] == "a · demo: hall, episode 3, seed 7, robot 1"


def test_a_page_takes_recordings_in_their_order_while_there_is_room_and_always_one():
    small, large = episode(pedestrians=2, duration=3.0), episode(pedestrians=40, duration=30.0)
    assert list(recordings_that_fit({"a": small, "b": large, "c": small}, 20_000)) == ["a"]
    assert list(recordings_that_fit({"a": small, "b": small}, 20_000)) == ["a", "b"] and list(
        recordings_that_fit({"b": large}, 10)
    ) == ["b"]
    absent = replace(large, pedestrian_present=large.pedestrian_present & False)
    assert list(recordings_that_fit({"a": small, "b": absent}, 20_000)) == ["a", "b"]


def test_of_many_failures_each_planner_has_one_of_every_kind_before_the_others():
    rows = table("ab", ("hall",), lost=[("a", "hall", 0), ("a", "hall", 1), ("b", "hall", 2)])
    assert choose(rows, 4) == ["demo/hall/0/a/0", "demo/hall/2/b/0", "demo/hall/2/a/0", "demo/hall/0/b/0"]
    assert choose(rows, 9)[4:] == ["demo/hall/1/a/0"]
