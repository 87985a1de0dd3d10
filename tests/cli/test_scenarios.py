"""``agora scenario``: what is listed, shown, written and refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from tests.suites import planners
from tests.tasks.test_arena_tools import FILE as OLD
from typer.testing import CliRunner

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.cli.app import app
from agora.draft.scenario import read_scenario
from agora.errors import InputError
from agora.tasks.arena_tools import convert
from agora.tasks.cards import card as cards
from agora.tasks.faults import faults, task_of_file
from agora.tasks.suite import load_suite


def agora(*words):
    return CliRunner().invoke(app, ["scenario", *words], catch_exceptions=False)


def test_cards_and_files_are_listed():
    lines = agora("list").output.splitlines()
    assert [line.split()[0] for line in lines if not line.endswith(".json")] == cards.card_names()
    assert any(line.split()[:2] == ["frontal_approach", "7a"] for line in lines)
    assert any(line.endswith("corridor/scenarios/counterflow.json") for line in lines)


def test_a_card_is_shown_in_words_and_drawn(tmp_path):
    picture = tmp_path / "x.png"
    said = agora("show", "frontal_approach", "--seed", "3", "--set", "width=2.25", "--output", str(picture)).output
    assert "width            2.25   1.5 to 4 m: width of the hallway" in said
    pixels = np.asarray(Image.open(picture).convert("RGB")).reshape(-1, 3)
    for colour in ((0, 114, 178), (230, 159, 0), (0, 158, 115)):
        assert (pixels == colour).all(axis=1).any(), "robot, pedestrian and goal are there"


def test_a_file_is_shown(tmp_path):
    path = agora("list").output.splitlines()[-1]
    assert "1 robots, " in agora("show", path, "--output", str(tmp_path / "x.svg")).output
    assert (tmp_path / "x.svg").is_file()


def test_a_draw_is_written_as_a_world_that_is_valid_and_says_the_same(tmp_path):
    answer = agora("generate", "intersection_wait", "--seed", "4", "--output", str(tmp_path / "w"))
    assert "not written to the file: pedestrian 0 waits along its path" in answer.output
    path = tmp_path / "w" / "scenarios" / "intersection_wait.json"
    written = read_scenario(path)
    drawn = cards.load_card("intersection_wait")
    suite = cards.Suite("scenario", (drawn.stage(),), 4)
    situation = cards.situation_of(suite, "intersection_wait", 0)
    assert written.obstacles.dynamic[0].vmax == situation.people[0].speed
    assert written.robots[0].goal == (5.0, 0.0, 0.0)
    assert faults(task_of_file(path, 0.27)) == []
    with pytest.raises(InputError, match="already exists"):
        agora("generate", "intersection_wait", "--output", str(tmp_path / "w"))


def test_who_waits_queues_or_talks_in_a_card_does_so_in_the_file(tmp_path):
    def written(card, *words):
        agora("generate", card, *words, "--output", str(tmp_path / card))
        path = tmp_path / card / "scenarios" / f"{card}.json"
        return load_suite(path).start(card, 0).pedestrians, read_scenario(path).obstacles.dynamic

    starts, entries = written("exiting_room")
    assert [entry.state for entry in entries] == ["idle"] and 0 < starts.state_time[0] == entries[0].wait_time < 60
    starts, entries = written("queue", "--set", "people=3")
    assert [entry.state for entry in entries] == ["queueing"] * 3 and (starts.state_time > 0).all()
    starts, entries = written("join_group", "--set", "people=4")
    assert [entry.state for entry in entries] == ["talking"] * 4 and starts.talk.tolist() == [0] * 4
    assert entries[1].partners == ("pedestrian 1", "pedestrian 3", "pedestrian 4")
    starts, entries = written("frontal_approach")
    assert entries[0].state is None and starts.state_time.tolist() == [0.0], "who sets out at once has none"


def test_a_card_whose_people_wait_says_so_in_sentences_of_the_file(tmp_path):
    agora("generate", "join_group", "--set", "people=2", "--output", str(tmp_path / "w"))
    said = agora("show", str(tmp_path / "w" / "scenarios" / "join_group.json")).output.splitlines()
    assert said[-2].endswith("and talks with pedestrian 2 until the end.") and said[-2].startswith("  pedestrian 1 (")


def test_a_file_outside_a_world_is_shown_drawn_and_checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    robot = {"start": [1.2, 5.0, 0.0], "goal": [13.8, 4.6, 0.0]}
    people = [{"name": "a", "pos": [6.1, 6.0], "with": "b"}, {"name": "b", "pos": [6.9, 5.4]}]
    file = {"map": "hall", "robots": [robot], "obstacles": {"dynamic": people}}
    (tmp_path / "scene.json").write_text(json.dumps(file))
    said = agora("show", "scene.json", "--output", "scene.png").output.splitlines()
    assert said[0] == "scene.json: 1 robots, 2 pedestrians, map hall" and said[-1] == "scene.png"
    assert said[2] == "  a (pedestrian 1, an adult) stands at (6.10, 6.00), facing south-east, and talks with b until the end."
    with Image.open("scene.png") as picture:
        assert picture.width > picture.height > 300
    assert agora("validate", "scene.json").output == "scene.json: fine\n"
    people[1]["pos"] = [7.0, 7.2]
    (tmp_path / "scene.json").write_text(json.dumps(file))
    with pytest.raises(InputError, match=r"b starts at \(7.00, 7.20\), inside an obstacle"):
        agora("validate", "scene.json")
    assert (tmp_path / "scene.faults.png").is_file()


def test_what_is_wrong_with_a_file_is_marked_in_a_picture(tmp_path):
    agora("generate", "join_group", "--output", str(tmp_path / "w"))
    path = tmp_path / "w" / "scenarios" / "join_group.json"
    assert agora("validate", str(path), "--output", str(tmp_path)).output.endswith("fine\n")
    content = json.loads(path.read_text())
    content["robots"][0]["start"] = [6.2, 1.0]
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"the robot starts at \(6\.20, 1\.00\), inside an obstacle") as refused:
        agora("validate", str(path), "--output", str(tmp_path))
    picture = tmp_path / "join_group.faults.png"
    assert str(picture) in str(refused.value)
    pixels = np.asarray(Image.open(picture).convert("RGB")).astype(int)
    marked = np.argwhere((np.abs(pixels - (213, 94, 0)) < 12).all(axis=2))
    assert marked[:, 1].max() > 0.8 * pixels.shape[1], "the mark is at the right border, where the start is"


def test_a_card_that_nobody_can_solve_is_refused(tmp_path, monkeypatch):
    card = cards.load_card("narrow_doorway")

    def blocked(stream, **values):
        drawn = card.build(stream, **values)
        return replace(drawn, people=(cards.walker((0.0, 0.0), waits=(3600.0,), heading=1.0),), timeout=15.0)

    stuck = replace(card, build=blocked)
    monkeypatch.setattr(cards, "load_card", lambda name: stuck)
    monkeypatch.setattr("agora.tasks.worlds.card.load_card", lambda name: stuck)
    with pytest.raises(InputError, match="narrow_doorway: no contact-free path to the goal was found"):
        agora("validate", "narrow_doorway", "--output", str(tmp_path))
    assert (tmp_path / "narrow_doorway.faults.png").is_file()


def test_a_card_whose_predicate_cannot_hold_is_refused(tmp_path, monkeypatch):
    card = cards.load_card("down_path")
    never = replace(card, build=lambda stream, **values: replace(card.build(stream, **values), happened=lambda recording: False))
    monkeypatch.setattr(cards, "load_card", lambda name: never)
    with pytest.raises(InputError, match="down_path: the interaction did not occur in the oracle's solution"):
        agora("validate", "down_path", "--output", str(tmp_path))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "frontal_aproach"), "no scenario card called 'frontal_aproach'; did you mean 'frontal_approach'?"),
        (("show", "queue", "--set", "peple=3"), "card 'queue' has no parameter 'peple'; did you mean 'people'?"),
        (("show", "queue", "--set", "people=many"), "people: expected a number, got 'many'"),
        (("show", "queue", "--set", "people=.nan"), "people: expected a finite number, got nan"),
        (("show", "queue", "--robot", "tiagoo"), "no robot called 'tiagoo'; did you mean 'tiago'?"),
        (("show", "queue", "--output", "x.bmp"), r"--output x.bmp: expected a name that ends in .png, .pdf, .svg"),
        (("validate", "queue", "--output", "nowhere"), "--output nowhere: the folder does not exist"),
        (("validate", "nowhere/x.json"), "nowhere/x.json: there is no such file"),
    ],
)
def test_what_cannot_be_done_is_said(words, message):
    with pytest.raises(InputError, match=message):
        agora(*words)


def test_a_run_says_in_how_many_episodes_it_happened(tmp_path):
    suite = load_suite("single_pedestrian")
    short = tuple(replace(stage, episodes=2) for stage in suite.stages[:2])
    run_all(Request(replace(suite, stages=short), planners("go_to_goal"), tmp_path / "run", Options(workers=0)))
    rows = [line.split("│") for line in agora("happened", str(tmp_path / "run")).output.splitlines() if " of " in line]
    assert [[cell.strip() for cell in row[1:3]] for row in rows] == [["frontal_approach", "2 of 2"], ["robot_overtaking", "0 of 2"]]
    plane = replace(load_suite("demo"), stages=(replace(load_suite("demo").stages[1], episodes=1, timeout=1.0),))
    run_all(Request(plane, planners("go_to_goal"), tmp_path / "plane", Options(workers=0)))
    with pytest.raises(InputError, match="contains no recordings of scenario cards"):
        agora("happened", str(tmp_path / "plane"))


def test_a_file_of_arena_tools_is_written_in_the_present_format(tmp_path):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(OLD), encoding="utf-8")
    agora("convert", str(old), "--output", str(new))
    assert read_scenario(new) == convert(old)
    with pytest.raises(InputError, match="already exists"):
        agora("convert", str(old), "--output", str(new))
