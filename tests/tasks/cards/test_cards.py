"""The scenario library: every card's draws are valid, can be solved, and its predicate tells whether the interaction came about."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.episode import Conditions
from agora.errors import InputError
from agora.registry import available, load
from agora.robots.model import load_robot
from agora.seeds import Stream
from agora.tasks.cards.card import ROBOT, Card, Range, card_names, load_card, situation_of
from agora.tasks.faults import faults, task_of
from agora.tasks.start import PedestrianStarts
from agora.tasks.suite import Suite, load_suite
from agora.testing.oracle import CLOSE, drive, solve

NAMES = card_names()
RADIUS = load_robot(ROBOT).radius


def suite_of(card: Card, episodes: int = 1, seed: int = 5) -> Suite:
    return Suite("library", (card.stage(episodes=episodes),), seed)


def stream(name: str, k: int) -> Stream:
    return Stream(f"library/{name}/{k}", 5, "task")


@pytest.mark.parametrize("name", NAMES)
def test_a_card_says_what_it_is(name):
    card = load_card(name)
    texts = (card.title, card.tests, card.leaves_out, card.intended, card.happens, card.origin, card.build.__doc__)
    assert card.name == name and all(texts)
    assert all(text.endswith(".") for text in (card.tests, card.leaves_out, card.intended, card.happens))
    assert card.measures and set(card.measures) <= available("metrics").keys()
    assert all(r.low <= r.high and r.meaning for r in card.parameters.values())


def test_the_25_situations_of_the_figure_are_there_once_each():
    figures = [load_card(name).figure for name in NAMES]
    assert sorted(f for f in figures if f) == [f"7{letter}" for letter in "abcdefghijklmnopqrstuvwxy"]


@pytest.mark.parametrize("name", NAMES)
def test_parameters_of_20_draws_are_in_range_and_starts_are_free(name):
    card = load_card(name)
    for k in range(20):
        settings = card.settings(stream(name, k))
        assert all(card.parameters[key].low <= value <= card.parameters[key].high for key, value in settings.items())
        drawn = card.draw(stream(name, k))
        assert drawn.map.gap(np.stack([drawn.start[:2], drawn.goal[:2]]), limit=1.0).min() > RADIUS
        for person in drawn.people:
            way = np.vstack([person.position, person.waypoints])
            assert drawn.map.contains(way).all()
            assert drawn.map.gap(way, limit=1.0).min() >= person.radius - 0.05
    assert faults(task_of(drawn, RADIUS)) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_same_stream_gives_the_same_people_and_another_one_others(name):
    def people(k):
        return [dataclasses.astuple(p) for p in load_card(name).draw(stream(name, k)).people]

    assert repr(people(3)) == repr(people(3))
    assert repr(people(3)) != repr(people(4)) or name == "sean_empty"


@pytest.mark.parametrize("name", NAMES)
def test_a_card_can_be_solved_and_its_predicate_can_tell(name):
    """The oracle gets through without a contact, the interaction comes about, and does not come about without the people."""
    card = load_card(name)
    suite = suite_of(card)
    situation, solution = situation_of(suite, name, 0), solve(card, suite, 0)
    assert solution.solved and solution.recording.outcome == Outcome.REACHED
    assert situation.happened(solution.recording) is True
    assert solution.conflict < CLOSE or not card.conflict
    recording = solution.recording
    start = suite.start(name, 0)
    if name == "sean_empty":
        someone = recording.pose[:, None, :2] + (0.9, 0.9)
        beside = replace(
            recording, pedestrian_position=someone, pedestrian_id=np.array([1]), pedestrian_present=np.ones(someone.shape[:2], bool)
        )
        assert situation.happened(beside) is False
        return
    alone = drive(replace(start, pedestrians=PedestrianStarts.none()), recording.pose[:, :2], Conditions.of(suite.stages[0]))
    assert situation.happened(alone) is False
    empty = replace(alone, pose=np.repeat(alone.pose[:1], len(alone.pose), 0))
    assert situation.happened(empty) is False


def test_what_is_given_is_not_drawn_and_changes_nothing_else():
    card = load_card("frontal_approach")
    free, fixed = card.settings(stream("x", 1)), card.settings(stream("x", 1), {"width": 2})
    assert fixed == free | {"width": 2.0}
    assert isinstance(load_card("queue").settings(stream("x", 1), {"people": 3.0})["people"], int)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"witdh": 2.0}, "card 'frontal_approach' has no parameter 'witdh'; did you mean 'width'?"),
        ({"width": 9.0}, r"width of card 'frontal_approach' must be in \[1.5, 4\], got 9"),
    ],
)
def test_values_that_make_no_sense_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        load_card("frontal_approach").draw(stream("x", 0), values)


def test_a_part_of_a_pedestrian_is_refused():
    with pytest.raises(InputError, match="people of card 'queue' must be an integer, got 2.5"):
        load_card("queue").check({"people": 2.5})


def test_whole_numbers_are_drawn_evenly_with_both_ends():
    draws = [Range(2, 4, "", "x", whole=True).draw(Stream("a/b/c", k, "task")) for k in range(300)]
    assert {d: draws.count(d) // 30 for d in set(draws)}.keys() == {2, 3, 4}
    assert min(draws.count(d) for d in (2, 3, 4)) > 75


@pytest.mark.parametrize(("suite", "count"), [("francis2023", 25), ("single_pedestrian", 3)])
def test_the_suites_play_the_cards_as_the_cards_ask(suite, count):
    loaded = load_suite(suite)
    assert len(loaded.stages) == count
    for stage in loaded.stages:
        assert stage == load_card(stage.name).stage(episodes=stage.episodes)


def test_episodes_of_a_suite_are_different_draws_and_are_found_again():
    suite = load_suite("single_pedestrian")
    speeds = [situation_of(suite, "frontal_approach", k).people[0].speed for k in range(4)]
    assert len(set(speeds)) == 4
    assert [suite.start("frontal_approach", k).pedestrians.speed[0] for k in range(4)] == speeds
    with pytest.raises(InputError, match="stage 'hall' of suite 'demo' plays worlds of 'folder', no card"):
        situation_of(load_suite("demo"), "hall", 0)


def test_a_strangers_card_is_found_by_name():
    assert load("cards", "queue") is load_card("queue")
