"""The scenario library: every card's draws are valid, can be solved, and its predicate tells whether the interaction came about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agora.errors import InputError
from agora.interfaces import Range
from agora.registry import load
from agora.seeds import Stream
from agora.tasks.cards.card import card_names, load_card, pose, situation_of, walker
from agora.tasks.cards.predicates import met
from agora.tasks.cards.shapes import corridor
from agora.tasks.suite import load_suite
from agora.testing import ContractError, check_card
from agora.testing.guard import identical

NAMES = card_names()
LARGE = walker((6.0, 0.0), waits=(3600.0,), heading=0.0, radius=0.7)
AWAY = walker((-2.5, 1.7), (-2.5, 1.0), speed=0.3)


def stream(name: str, k: int) -> Stream:
    return Stream(f"library/{name}/{k}", 5, "task")


def test_the_25_situations_of_the_figure_are_there_once_each():
    figures = [load_card(name).figure for name in NAMES]
    assert sorted(f for f in figures if f) == [f"7{letter}" for letter in "abcdefghijklmnopqrstuvwxy"]


@pytest.mark.parametrize("name", NAMES)
def test_a_card_keeps_the_contract(name):
    """Its draws are valid and repeatable, the oracle solves one, and the predicate tells whether the interaction came about."""
    check_card(load_card(name))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "sean_empty"])
def test_other_streams_give_other_people(name):
    one, other = (load_card(name).draw(stream(name, k)).people for k in (3, 4))
    assert not identical(one, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tests": ""}, "frontal_approach: has no text for tests"),
        ({"measures": ("speed",)}, r"frontal_approach: unknown metrics \['speed'\]"),
        ({"happened": lambda recording: False}, "frontal_approach: draw 0 was solved, but the interaction did not occur"),
        ({"happened": lambda recording: True}, "frontal_approach: draw 0: the predicate holds with and without the people"),
        ({"start": pose(0.5, 1.9)}, "frontal_approach: draw 0: a robot with radius 0.27 m has no room at its start or goal"),
        ({"people": ()}, "frontal_approach: draw 0 was solved, but the interaction did not occur"),
        ({"people": (LARGE,), "map": corridor("c", 10.0, 1.5), "start": pose(1.0, 0.0)}, "frontal_approach: draw 0 ended with"),
        ({"people": (AWAY,), "happened": lambda recording: met(recording, 1, 3.0)}, "draw 0 is not a conflict"),
    ],
)  # fmt: skip
def test_a_card_that_breaks_the_contract_is_found_out(change, message, monkeypatch):
    real = load_card("frontal_approach")
    texts = {key: value for key, value in change.items() if key in ("tests", "measures")}
    changed = {key: value for key, value in change.items() if key not in texts}
    bad = replace(real, **texts, build=lambda stream, **values: replace(real.build(stream, **values), **changed, timeout=40.0))
    monkeypatch.setattr("agora.tasks.worlds.card.load_card", lambda name: bad)
    monkeypatch.setattr("agora.tasks.cards.card.load_card", lambda name: bad)
    with pytest.raises(ContractError, match=message):
        check_card(bad, attempts=1)


def test_a_card_whose_draws_depend_on_more_than_the_stream_is_found_out():
    real, calls = load_card("frontal_approach"), []

    def build(stream, **values):
        calls.append(1)
        return real.build(stream, **values | {"speed": 0.9 + 0.001 * len(calls)})

    with pytest.raises(ContractError, match="draw 0: not deterministic"):
        check_card(replace(real, build=build))


def test_what_is_given_is_not_drawn_and_changes_nothing_else():
    card = load_card("frontal_approach")
    free, fixed = card.settings(stream("x", 1)), card.settings(stream("x", 1), {"width": 2})
    assert fixed == free | {"width": 2.0}
    assert isinstance(load_card("queue").settings(stream("x", 1), {"people": 3.0})["people"], int)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"witdh": 2.0}, "card 'frontal_approach' has no parameter 'witdh'; did you mean 'width'?"),
        ({"width": 9.0}, r"width of card 'frontal_approach': expected a number in \[1.5, 4\], got 9"),
    ],
)
def test_values_that_make_no_sense_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        load_card("frontal_approach").draw(stream("x", 0), values)


def test_a_part_of_a_pedestrian_is_refused():
    with pytest.raises(InputError, match="people of card 'queue': expected an integer, got 2.5"):
        load_card("queue").check({"people": 2.5})


def test_whole_numbers_are_drawn_evenly_with_both_ends():
    draws = [Range(2, 4, "", "x", whole=True).draw(Stream("a/b/c", k, "task")) for k in range(300)]
    assert {d: draws.count(d) // 30 for d in set(draws)}.keys() == {2, 3, 4}
    assert min(draws.count(d) for d in (2, 3, 4)) > 75


def test_a_suite_plays_three_cards_as_they_ask():
    stages = load_suite("single_pedestrian").stages
    assert len(stages) == 3
    for stage in stages:
        assert stage == replace(load_card(stage.name).stage(episodes=stage.episodes), pedestrians=stage.pedestrians)


def test_a_suite_plays_the_25_cards_with_people_half_of_whom_mind_the_robot_early():
    stages = load_suite("francis2023").stages
    assert len(stages) == 25
    for stage in stages:
        asked = load_card(stage.name).stage(episodes=stage.episodes)
        assert stage == replace(asked, crowd=stage.crowd, pedestrians=stage.pedestrians, counterfactual=True)
        if not asked.crowd.sees_robots:
            assert stage.crowd == asked.crowd
            continue
        assert replace(stage.crowd, model=asked.crowd.model, models=()) == asked.crowd
        assert {each.model for each in stage.crowd.models} == {asked.crowd.model}
        assert [(each.minds_robots, each.share) for each in stage.crowd.models] == [("early", 0.5), ("late", 0.4), ("never", 0.1)]


def test_episodes_of_a_suite_are_different_draws_and_are_found_again():
    suite = load_suite("single_pedestrian")
    speeds = [situation_of(suite, "frontal_approach", k).people[0].speed for k in range(4)]
    assert len(set(speeds)) == 4
    assert [suite.start("frontal_approach", k).pedestrians.speed[0] for k in range(4)] == speeds
    with pytest.raises(InputError, match="stage 'hall' of suite 'demo' uses the world source 'folder', not a card"):
        situation_of(load_suite("demo"), "hall", 0)


def test_a_strangers_card_is_found_by_name():
    assert load("cards", "queue") is load_card("queue")
