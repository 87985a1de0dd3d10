"""Worlds from folders, planes and data sets; the suites of real data run."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.suites import planners, write_world

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.config import parse
from agora.datasets.eth_ucy import read_scene
from agora.errors import InputError, PlacementError, UnknownNameError
from agora.registry import Named, load
from agora.seeds import Stream
from agora.tasks.budget import measured
from agora.tasks.suite import Suite, load_suite
from agora.tasks.worlds.eth_ucy import EthUcy
from agora.tasks.worlds.folder import Folder, world_names
from agora.tasks.worlds.generated import Generated
from agora.tasks.worlds.open import Open

STREAM = Stream("test/stage/0", 3, "task")


def test_a_folder_gives_its_map_and_its_scenarios_one_after_the_other(tmp_path):
    place = write_world(tmp_path / "room")
    (place / "scenarios").mkdir()
    for name, x in (("a", 1.0), ("b", 2.0)):
        robots = [{"start": [x, 4.0], "goal": [5.0, 4.0]}]
        (place / "scenarios" / f"{name}.json").write_text(json.dumps({"robots": robots, "obstacles": {}}))
    bare, played = Folder(str(place)), Folder(str(place), scenarios=("b", "a"))
    assert (bare.names(), played.names()) == (["room"], ["b", "a"])
    assert bare.world("room", STREAM).scenario is None
    worlds = [played.world(name, STREAM) for name in played.names()]
    assert [w.scenario.robots[0].start for w in worlds] == [(2.0, 4.0, 0.0), (1.0, 4.0, 0.0)]
    assert worlds[0].map is worlds[1].map
    assert (worlds[0].map.name, worlds[0].map.origin, worlds[0].map.size) == ("room", (-4.3, 2.1), pytest.approx((13.6, 9.2)))


def test_a_folder_without_a_map_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"not a world: expected map/map\.yaml or map/shapes\.yaml, found neither"):
        Folder(str(tmp_path)).world("x", STREAM)


def test_a_folder_of_the_same_name_where_one_stands_does_not_replace_a_world(tmp_path, monkeypatch):
    write_world(tmp_path / "hall")
    monkeypatch.chdir(tmp_path)
    assert Folder("hall").world("hall", STREAM).map.size == pytest.approx((16.0, 11.0))
    assert Folder("./hall").world("hall", STREAM).map.size == pytest.approx((13.6, 9.2))


@pytest.mark.parametrize("name", world_names())
def test_a_world_that_comes_with_agora_is_read(name):
    place = Folder(name).world(name, STREAM).map
    assert place.name == name
    assert min(place.size) > 3.0


def test_a_plane_is_where_and_as_large_as_it_says():
    place = Open(width=7.0, height=3.0, x=-2.0, y=5.0).world("open", STREAM).map
    assert (place.origin, place.size) == ((-2.0, 5.0), pytest.approx((7.0, 3.0)))
    assert place.contains(np.array([[-1.9, 5.1], [4.9, 7.9], [0.0, 4.9]])).tolist() == [True, True, False]


def test_worlds_of_data_have_tasks_people_and_limits_of_time(data):
    barn = load("worlds", "barn")(worlds=(6,)).world("6", STREAM)
    assert barn.scenario.robots[0].start == pytest.approx((-2.25, 3.0, math.pi / 2), abs=1e-6)
    assert (barn.replay, barn.timeout) == (None, None) and len(barn.map.discs) > 100
    dynabarn = load("worlds", "dynabarn")(part="challenge", difficulty="hard")
    assert len(dynabarn.names()) == 15
    moving = dynabarn.world("challenge_40", STREAM)
    assert (moving.replay_radius, moving.replay.count) == (0.5, 23) and (moving.replay.period > 0).all()
    socnavbench = load("worlds", "socnavbench")()
    assert len(socnavbench.names()) == 33
    played = socnavbench.world("t_ETH1", STREAM)
    assert (played.timeout, played.replay_radius, played.replay.count) == (20.0, 0.2, 14)
    assert played.scenario.robots[0].goal == (12.0, 15.0, 1.5)


def test_random_episodes_of_socnavbench_are_free_connected_and_less_than_25_s_away(data):
    suite, budgets, maps = load_suite("socnavbench_random"), set(), set()
    for episode in range(suite.stage("random").count):
        start = suite.start("random", episode)
        robot, now = measured(start.map, *start.robots), start.replay.at(0.0)
        ends, reach = np.stack([robot.pose, robot.goals[-1]])[:, :2], robot.model.radius + 0.1
        assert (start.map.gap(ends) >= reach).all()
        assert np.hypot(*(ends[1] - ends[0])) >= 1.0 and robot.legs[0] <= 25 * 1.2
        assert np.hypot(*(now.position[now.present] - ends[0]).T).min(initial=9.0) >= robot.model.radius + 0.2
        budgets, maps = budgets | {start.timeout}, maps | {start.map.name}
    assert budgets == {20.0, 50.0, 60.0} and len(maps) == 5
    again, other = suite.start("random", 7), suite.start("random", 40)
    assert again.robots[0].pose.tolist() == load_suite("socnavbench_random").start("random", 7).robots[0].pose.tolist()
    assert again.robots[0].pose.tolist() != other.robots[0].pose.tolist()


def test_stretches_of_eth_and_ucy_are_drawn_and_show_people(data):
    source = load("worlds", "eth_ucy")(scenes=("zara01",), length=20.0, least=8)
    worlds = [source.world("zara01", Stream(f"test/stage/{k}", 3, "task")) for k in range(4)]
    counts = [w.replay.count for w in worlds]
    assert min(counts) >= 8 and len(set(counts)) > 1
    for world in worlds:
        assert world.replay.overlapping(0.0, 20.0).all()
    with pytest.raises(InputError, match="no section of 1.0 s with at least 500 pedestrians"):
        load("worlds", "eth_ucy")(scenes=("zara01",), length=1.0, least=500).world("zara01", STREAM)


@pytest.mark.parametrize(
    ("kind", "parameters", "name"),
    [
        ("barn", {"worlds": (777,)}, "777"),
        ("dynabarn", {"worlds": ("chalenge_40",)}, "chalenge_40"),
        ("socnavbench", {}, "t_ETH"),
    ],
)
def test_a_world_that_a_data_set_does_not_have_is_refused(data, kind, parameters, name):
    with pytest.raises(UnknownNameError, match="did you mean|known names"):
        load("worlds", kind)(**parameters).world(name, STREAM)


@pytest.mark.parametrize("name", ["socnavbench_smoke", "barn_smoke", "dynabarn_smoke"])
def test_a_suite_of_real_data_runs_and_its_robot_gets_somewhere(data, tmp_path, name):
    suite = load_suite(name)
    rows = run_all(Request(suite, planners("orca"), tmp_path, Options(workers=0)))
    assert len(rows) == len(suite.entries())
    assert sum(row["reached"] for row in rows) >= len(rows) / 3
    assert not {"planner_failed", "out_of_map"} & {row["outcome"] for row in rows}


def test_the_replay_of_eth_and_ucy_never_begins_in_a_pedestrian(data, tmp_path):
    suite = load_suite("eth_ucy_replay")
    for episode in range(suite.stages[0].count):
        start = suite.start("replay", episode)
        now = start.replay.at(0.0)
        gaps = np.hypot(*(now.position[now.present] - start.robots[0].pose[:2]).T)
        assert gaps.min(initial=9.0) >= start.robots[0].model.radius + 0.25 + 0.25


def test_where_nobody_was_recorded_nobody_drives(data):
    scene, world = read_scene("zara02"), EthUcy(("zara02",)).world("zara02", STREAM)
    people = scene.trajectories
    walked = np.column_stack((people.knot_x, people.knot_y))
    assert (world.map.gap(walked[scene.map.gap(walked) > 0.05]) > 0).all(), "nobody walks in what was filled"
    shop, pavement = np.array([[2.5, -5.0]]), np.array([[0.5, -5.0]])
    assert scene.map.gap(shop) > 0 and world.map.gap(shop) <= 0, "behind the line that stands for a shop's front"
    assert world.map.gap(pavement) == pytest.approx(scene.map.gap(pavement), abs=0.1)
    assert np.array_equal(EthUcy(("zara02",), known=0.0).world("zara02", STREAM).map.occupied, scene.map.occupied)


def generated(count=3, seed=5, **parameters):
    return Generated(Named.of("map_generators", "canteen", resolution=0.2, **parameters), count, seed)


def test_generated_places_are_numbered_and_bring_furniture_and_zones():
    source = generated()
    assert source.names() == ["canteen-0", "canteen-1", "canteen-2"]
    world = source.world("canteen-1", STREAM)
    assert world.map.name == "canteen-1"
    assert {"table", "chair"} <= {f.model for f in world.furniture}
    assert {"table", "room", "queue"} <= {z.category[0] for z in world.zones}


def test_a_generated_place_depends_on_generator_seed_and_number_alone():
    def cells(source, name="canteen-2", stream=STREAM):
        return source.world(name, stream).map.occupied

    once = cells(generated())
    assert np.array_equal(cells(generated(), stream=Stream("other/stage/9", 8, "task")), once)
    assert np.array_equal(cells(generated(count=50)), once)
    for other in (cells(generated(seed=6)), cells(generated(), "canteen-1"), cells(generated(chair_chance=0.1))):
        assert not np.array_equal(other, once)


def test_a_generated_place_is_made_once_and_few_are_kept():
    source = generated(count=40)
    first = source.world("canteen-0", STREAM)
    assert source.world("canteen-0", STREAM).map is first.map
    for name in source.names()[1:]:
        source.world(name, STREAM)
    again = source.world("canteen-0", STREAM)
    assert again.map is not first.map
    assert np.array_equal(again.map.occupied, first.map.occupied)


def test_episodes_share_places_where_there_are_fewer_and_differ_in_what_happens():
    text = """
name: places
seed: 4
stages:
  - {name: one, episodes: 4, world: {name: generated, count: 2, seed: 9, generator: {name: doorway, door: 1.6}}}
"""
    starts = [parse(text, Suite).start("one", k) for k in range(4)]
    assert [s.map.name for s in starts] == ["doorway-0", "doorway-1", "doorway-0", "doorway-1"]
    assert np.array_equal(starts[0].map.occupied, starts[2].map.occupied)
    assert not np.array_equal(starts[0].map.occupied, starts[1].map.occupied)
    assert len({tuple(s.robots[0].pose.tolist()) for s in starts}) == 4


@pytest.mark.parametrize(
    ("world", "message"),
    [
        ("{name: generated, generator: {name: canteeen}}", "no map generator called 'canteeen'; did you mean 'canteen'"),
        ("{name: generated, generator: {name: canteen, chair_chanse: 1}}", "generator.chair_chanse: unknown key; did you mean"),
        ("{name: generated, generator: {name: canteen, chair_chance: 2}}", r"chair_chance: expected a number in \[0, 1\], got 2"),
        ("{name: generated, count: 0}", r"count: expected an integer in \[1, 1000000\], got 0"),
        ("{name: generated, seed: -1}", "seed: expected an integer of at least 0, got -1"),
    ],
)
def test_a_generated_world_that_cannot_be_is_refused_where_it_is_written(world, message):
    with pytest.raises(InputError, match=rf"text:1: stages\[0\]\.world.*{message}"):
        parse(f"{{name: x, stages: [{{name: one, world: {world}}}]}}", Suite)


def test_a_place_that_cannot_be_is_an_error_of_its_episode():
    text = "{name: x, stages: [{name: one, world: {name: generated, generator: {name: canteen, obstacle_num: 900}}}]}"
    with pytest.raises(PlacementError, match=r"^x/one/0: obstacle_num 900: there is room for only \d+ tables"):
        parse(text, Suite).start("one", 0)
