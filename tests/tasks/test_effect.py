"""Every key of a suite changes the start of an episode, or is refused beside the keys that leave it without effect."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

from agora.config import dump, parse
from agora.draft.stage import Stage
from agora.errors import InputError
from agora.registry import Named
from agora.seeds import Stream
from agora.tasks.cards.card import load_card, situation_of
from agora.tasks.suite import Suite, load_suite, with_seed
from agora.tasks.worlds.open import Open
from agora.wire.plain import to_plain

HALL = "world: {name: folder, path: hall}"
ARENA = "world: {name: open, width: 20, height: 20, x: -10, y: -10}"
REFUSED = {
    "robots: scenario, obstacles: none, world: {name: folder, path: hospital, scenarios: [delivery]}, safety: 0.3": "safety",
    "robots: scenario, obstacles: none, world: {name: folder, path: hospital, scenarios: [delivery]}, forbidden: [x]": "forbidden",
    "world: {name: folder, path: hospital, scenarios: [delivery]}, obstacles: none": "world.scenarios",
    f"{HALL}, obstacles: none, crowd: {{model: orca}}": "crowd.model",
    f"{HALL}, obstacles: none, crowd: {{people: {{speed: 1.0}}}}": "crowd.people",
    f"{ARENA}, obstacles: motion_profiles, crowd: {{behaviours: [groups]}}": "crowd.behaviours",
    f"{HALL}, obstacles: random, crowd: {{sidestep: {{}}}}": "crowd.sidestep",
    f"{HALL}, obstacles: random, crowd: {{faithful: true, yields: false}}": "crowd.yields",
    f"{HALL}, obstacles: random, pedestrians: {{source: truth, tracker: {{}}}}": "pedestrians.tracker",
    f"{HALL}, obstacles: random, pedestrians: {{source: view, detector: {{}}}}": "pedestrians.detector",
    f"{HALL}, obstacles: random, pedestrians: {{source: tracked, view: {{}}}}": "pedestrians.view",
    f"{HALL}, obstacles: {{name: random, static_radius: [0.1, 0.2]}}": "obstacles.static_radius",
    f"{HALL}, obstacles: {{name: groups, standing_size: [3, 3]}}": "obstacles.standing_size",
    f"{HALL}, obstacles: {{name: itineraries, people: [3, 3], density: 0.1}}": "obstacles.density",
    f"{HALL}, obstacles: {{name: itineraries, arrivals: 0, until: 30}}": "obstacles.until",
    f"{ARENA}, obstacles: {{name: motion_profiles, turning: 3.0}}": "obstacles.turning",
    f"{ARENA}, obstacles: {{name: motion_profiles, discs: [[0, 0], [0.5, 0]], shapes: [bar]}}": "obstacles.shapes",
    f"{ARENA}, robots: {{name: circle, scattered: 1, noise: 0.5}}": "robots.noise",
    "world: {name: circle_crossing, first_seed: 3}, robots: scenario, obstacles: scenario": "world.first_seed",
    "world: {name: crossing_groups, circle_offset: 0.3, circle_noise: 0.1}, robots: scenario, obstacles: scenario":
        "world.circle_noise",
    f"{HALL}, modules: [clear_forbidden_zones], forbidden: [x]": "forbidden",
    f"{HALL}, modules: [staged], obstacles: random, goal_tolerance: 0.4": "goal_tolerance",
    f"{HALL}, modules: [benchmark], timeout: 20": "timeout",
}  # fmt: skip


def suite_of(stage: str) -> Suite:
    return parse(f"name: effect\nseed: 5\nstages:\n- {{name: one, episodes: 3, {stage}}}\n", Suite, "effect.yaml")


@pytest.mark.parametrize(("stage", "key"), REFUSED.items())
def test_a_key_without_effect_is_refused_with_its_line_and_what_leaves_it_without(stage, key):
    with pytest.raises(InputError) as caught:
        suite_of(stage)
    assert f"effect.yaml:4: stages[0].{key}: has no effect with" in str(caught.value)


def started(suite: Suite, episode: int = 0) -> bytes:
    return pickle.dumps(to_plain(suite.start(suite.stages[0].name, episode)))


EFFECTIVE = {
    "safety: 0.6": "robots: random, obstacles: none",
    "goal_tolerance: 0.4": "robots: random, obstacles: none",
    "heading_tolerance: 1.0": "robots: random, obstacles: none",
    "timeout: 33.0": "robots: random, obstacles: none",
    "robot: burger": "robots: random, obstacles: none",
    "seed: 77": "robots: random, obstacles: none",
    "drawn_as: effect/other": "robots: random, obstacles: none",
    "crowd: {people: {speed: 1.1}}": "robots: random, obstacles: {name: random, dynamic: [4, 6]}",
    "crowd: {people: {radius: 0.25}}": "robots: random, obstacles: {name: random, dynamic: [4, 6]}",
    "crowd: {models: [{model: orca}, {model: helbing}]}": "robots: random, obstacles: {name: random, dynamic: [4, 6]}",
}


@pytest.mark.parametrize(("key", "stage"), EFFECTIVE.items())
def test_a_key_that_is_read_changes_the_start(key, stage):
    assert started(suite_of(f"{HALL}, {stage}, {key}")) != started(suite_of(f"{HALL}, {stage}"))


def test_a_category_of_zones_that_a_world_does_not_have_is_refused():
    for keys in ("forbidden: [kichen]", "modules: [{name: clear_forbidden_zones, category: [kichen]}]"):
        with pytest.raises(InputError, match="no zone category in map 'hospital' called 'kichen'"):
            suite_of(f"world: {{name: folder, path: hospital}}, {keys}").start("one", 0)


def test_what_is_written_by_a_program_is_read_again_without_the_keys_that_have_no_effect():
    suite = suite_of(f"{HALL}, obstacles: none, pedestrians: {{source: view, view: {{angle: 1.0}}}}")
    text = dump(suite)
    assert "crowd:" in text and "helbing" not in text and "tracker" not in text
    assert parse(text, Suite) == suite


def test_a_seed_takes_the_place_of_those_of_the_stages_and_the_own_seed_of_a_suite_changes_nothing():
    suite = load_suite("taga")
    assert [suite.seed_of(stage.name) for stage in suite.stages] == [1001, 1002, 1003, 1004, 1005]
    assert with_seed(suite, None) == with_seed(suite, suite.seed) == suite
    other = with_seed(suite, 7)
    assert {other.seed_of(stage.name) for stage in other.stages} == {7} and other.seed == 7
    for stage in suite.stages[:2]:
        starts = {pickle.dumps(to_plain(one.start(stage.name, 0).robots)) for one in (suite, other, with_seed(suite, 8))}
        assert len(starts) == 3, "each seed is another episode"
    assert started(other) == started(replace(suite, seed=7, stages=tuple(replace(s, seed=7) for s in suite.stages)))
    assert with_seed(other, suite.seed) != suite, "what the seeds of the stages were is forgotten"


def test_a_seed_draws_other_places_and_the_seed_of_a_row_restores_its_place():
    suite = load_suite("social").part(["canteen"], 2)
    one, two = with_seed(suite, 7), with_seed(suite, 8)
    places = [one_of.start("canteen", 0).map for one_of in (suite, one, two)]
    assert len({place.occupied.tobytes() for place in places}) == 3
    assert with_seed(suite, 7) == one
    assert not np.array_equal(one.start("canteen", 0).map.occupied, one.start("canteen", 1).map.occupied)
    row_seed = 103
    own = replace(suite, stages=(replace(suite.stages[0], seed=row_seed), replace(suite.stages[0], name="other")))
    assert with_seed(own, row_seed).stages[0] == own.stages[0], "a row of the stage is played again in its place"
    assert with_seed(own, row_seed).stages[1] != own.stages[1]


def test_stages_that_share_their_places_share_them_under_every_seed():
    suite = load_suite("legged")
    shared = {stage.world.part.seed for stage in suite.stages}
    assert len({stage.world.part.seed for stage in with_seed(suite, 4).stages}) == len(shared) < len(suite.stages)


@pytest.mark.parametrize("name", ["crowdnav", "crowdnav_square", "barn_once"])
def test_a_seed_that_draws_nothing_is_refused(name):
    with pytest.raises(InputError, match=f"seed 5: has no effect on suite '{name}'.* leave it out"):
        with_seed(load_suite(name), 5)


@pytest.mark.parametrize(
    "chance",
    [
        "robot: jackal_barn_noisy",
        "obstacles: scenario, crowd: {unsteady: {}}",
        "obstacles: scenario, crowd: {behaviours: [social_states]}",
    ],
)
def test_a_seed_used_only_during_an_episode_is_accepted(chance):
    suite = suite_of(f"world: {{name: folder, path: corridor, scenarios: [counterflow]}}, robots: scenario, {chance}")
    assert with_seed(suite, 9).seed == 9


def test_a_custom_world_source_follows_the_seed_if_it_has_the_method():
    @dataclass(frozen=True)
    class Fields(Open):
        seed: int = 4

        def seeded(self, seed: int) -> Fields:
            return replace(self, seed=seed)

    stage = replace(suite_of(f"{HALL}").stages[0], world=Named("fields", Fields()))
    suite = Suite("own", (stage,), seed=2)
    assert with_seed(suite, 3).stages[0].world.part.seed not in (3, 4)


def test_stages_that_would_become_copies_of_each_other_are_refused():
    one = suite_of(f"{HALL}, seed: 3, drawn_as: effect/x").stages[0]
    both = Suite("copies", (one, replace(one, name="two", seed=4)), seed=1)
    with pytest.raises(InputError, match="seed 9: stages 'one' and 'two' of suite 'copies' share one draw"):
        with_seed(both, 9)
    assert with_seed(both, 1) == both


def test_the_situation_of_a_card_is_that_of_the_seed_and_the_place_of_its_stage():
    card = load_card("narrow_doorway")
    stage: Stage = replace(card.stage(), seed=11, drawn_as="cards/door")
    suite = Suite("own", (stage,), seed=2)
    played = suite.start(stage.name, 1).robots[0].pose
    drawn = card.draw(Stream("cards/door/1", 11, "task"), stage.world.part.values)
    assert situation_of(suite, stage.name, 1).start.tolist() == drawn.start.tolist() == played.tolist()


def test_a_time_limit_is_refused_in_a_world_that_sets_its_own(monkeypatch):
    world = Open.world
    monkeypatch.setattr(Open, "world", lambda self, name, stream: replace(world(self, name, stream), timeout=25.0))
    assert suite_of(ARENA).start("one", 0).timeout == 25.0
    with pytest.raises(InputError, match="effect/one/0: timeout: has no effect in world .* which sets its own, 25 s; leave it out"):
        suite_of(f"{ARENA}, timeout: 30").start("one", 0)
