"""Modules: curricula, new maps, forbidden zones, benchmarks of Arena's."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from agora.config import build, dump, parse
from agora.draft.stage import Stage
from agora.draft.surroundings import Surroundings
from agora.errors import InputError
from agora.interfaces import Module, ResetPlan
from agora.maps.grid import Map
from agora.maps.zones import Zone
from agora.registry import Named, make
from agora.seeds import Stream
from agora.tasks.modules.benchmark import Benchmark
from agora.tasks.modules.clear_forbidden_zones import ClearForbiddenZones
from agora.tasks.modules.dynamic_map import DynamicMap
from agora.tasks.modules.staged import Staged
from agora.tasks.obstacles.random import Amount, Random
from agora.tasks.suite import Suite, put_together
from agora.testing.guard import identical

STORE = Zone.of("store", "forbidden", [(-6.0, 1.0), (1.5, 1.0), (0.5, 10.0), (-6.0, 9.2)])
LAB = Zone.of("lab", "staff", [(2.0, 1.0), (6.0, 1.0), (6.0, 4.5)])
PLANE = make("worlds", "open", width=17.0, height=13.0, x=-4.0, y=2.5)


@dataclass(frozen=True)
class Zoned:
    """A plane with zones."""

    def names(self):
        return ["zoned"]

    def world(self, name: str, stream: Stream) -> Surroundings:
        return Surroundings(Map.open((-6.0, 1.0), (6.0, 10.0)), zones=(STORE, LAB))


def suite(*modules, obstacles=None, world=None, seed=5):
    parts = tuple(Named(type(m).__name__, m) for m in modules)
    source = Named("world", world or Zoned())
    mode = Named("random", obstacles or Random(dynamic=(2, 3)))
    stage = Stage("stage", source, Named.of("robots_modes", "random", distance=1.0), mode, modules=parts, episodes=9)
    return Suite("test", (stage,), seed=seed)


CURRICULUM = """
- {static: 1, interactive: 2, dynamic: 3, goal_radius: 0.7, map_generator: {algorithm: barn, algorithm_config: {fill_pct: 0.05}}}
- {static: 0, dynamic: 4, map_generator: {rosnav: {map_type: outdoor, obstacle_num: 3}}}
- {dynamic: 0, goal_radius: 0.25, map_generator: {}}
"""


@pytest.fixture
def curriculum(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CURRICULUM)
    return str(path)


@pytest.mark.parametrize(("index", "counts", "radius"), [(0, (1, 2, 3), 0.7), (1, (0, 0, 4), 0.3), (2, (0, 0, 0), 0.25)])
def test_a_stage_of_a_curriculum_has_exactly_its_numbers(curriculum, index, counts, radius):
    for episode in range(4):
        start = suite(Staged(curriculum, index), obstacles=Random(dynamic=(0, 9)), world=PLANE).start("stage", episode)
        kinds = [thing.kind for thing in start.things]
        assert (kinds.count("static"), kinds.count("interactive"), len(start.pedestrians.id)) == counts
        assert start.goal_tolerance == radius


def test_stages_are_gone_through_and_back_and_not_left(curriculum):
    first = Staged(curriculum)
    assert [first.moved(k).index for k in (-3, 0, 1, 2, 3, 99)] == [0, 0, 1, 2, 2, 2]
    assert Staged(curriculum, 7).moved(-1).index == 1


def test_a_curriculum_keeps_the_models_and_the_other_parameters_of_the_mode(curriculum):
    mode = Random(dynamic=Amount(9, 9, ("actor2",)), static=Amount(0, 0, ("table",)), waypoints=4)
    start = suite(Staged(curriculum), obstacles=mode, world=PLANE).start("stage", 0)
    assert start.looks == ("actor2",) * 3
    assert [t.furniture.model for t in start.things if t.kind == "static"] == ["table"]
    assert set(start.pedestrians.waypoint_count) == {5}


def test_a_curriculum_chooses_the_maps_of_dynamic_map_that_comes_after_it(curriculum):
    maps = [suite(Staged(curriculum, k), DynamicMap(episode_per_map=9)).start("stage", 0).map for k in (0, 1, 2)]
    assert [m.name.rpartition("-")[0] for m in maps] == ["barn", "rosnav_outdoor", "barn"]
    assert suite(Staged(curriculum), world=PLANE).start("stage", 0).map.name == "open"


def test_a_curriculum_needs_random_obstacles(curriculum):
    other = suite(Staged(curriculum), obstacles=make("obstacles_modes", "none"))
    with pytest.raises(InputError, match="test/stage/0: module 'staged' works only with the obstacles mode 'random'"):
        other.start("stage", 0)


def test_the_shipped_curriculum_has_arenas_seven_stages():
    stages = Staged().stages()
    assert [s.dynamic for s in stages] == [12, 15, 20, 25, 30, 35, 40]
    assert [s.goal_radius for s in stages] == [1.0, 0.75, 0.5, 0.3, 0.3, 0.3, 0.3]
    assert [s.map_generator["algorithm_config"]["fill_pct"] for s in stages] == [0.075, 0.1, 0.1, 0.125, 0.125, 0.15, 0.15]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {dynamic: -1}", "c.yaml:1: [0].dynamic: expected an integer in [0, 10000], got -1"),
        ("- {dynamic: 1}\n- {dynamic: 1.5}", "c.yaml:2: [1].dynamic: expected an integer"),
        ("- {dynamick: 1}", "did you mean 'dynamic'?"),
        ("- {goal_radius: .nan}", "c.yaml:1: [0].goal_radius: expected a finite number"),
        ("- {goal_radius: 0}", "goal_radius: expected a number in (0, 5], got 0"),
        ("- {goal_radius: 15}", "goal_radius: expected a number in (0, 5], got 15"),
        ("- {map_generator: {algorithm: barm}}", "did you mean 'barn'?"),
        ("- {map_generator: {algorithm: barn, algorithm_config: {fillpct: 0.1}}}", "did you mean 'fill_pct'?"),
        ("- {map_generator: {algorithm: 3}}", "expected"),
        ("- {map_generator: {barn: 3}}", "expected"),
        ("[]", "expected at least one stage"),
        ("{}", "expected a list"),
    ],
)
def test_a_wrong_curriculum_is_refused_with_its_line(tmp_path, text, message):
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(ValueError, match="curriculum: ") as caught:
        Staged(str(tmp_path / "c.yaml"))
    assert message in str(caught.value), str(caught.value)


def test_the_map_changes_every_so_many_episodes_and_not_in_between():
    made = suite(DynamicMap(episode_per_map=3))
    maps = [made.start("stage", k).map for k in range(9)]
    assert len({id(m) for m in maps}) == 3
    assert all(maps[k] is maps[3 * (k // 3)] for k in range(9))
    assert not np.array_equal(maps[0].occupied, maps[3].occupied)


def test_a_generated_map_depends_on_the_seed_and_its_number_alone():
    forwards = [suite(DynamicMap(episode_per_map=2)).start("stage", k) for k in range(6)]
    backwards = [suite(DynamicMap(episode_per_map=2)).start("stage", k) for k in reversed(range(6))][::-1]
    assert all(identical(one, other) for one, other in zip(forwards, backwards, strict=True))
    other = suite(DynamicMap(episode_per_map=2), seed=6).start("stage", 0)
    assert not np.array_equal(other.map.occupied, forwards[0].map.occupied)


MAP_FILE = """
algorithm: rosnav
episode_per_map: 2
map_properties: {width: 50, height: 34, resolution: 0.5}
algorithm_config: {map_type: outdoor, obstacle_num: 4}
"""


def test_arenas_map_generator_file_is_followed(tmp_path):
    path = tmp_path / "map_generator.yaml"
    path.write_text(MAP_FILE)
    made = suite(DynamicMap(file=str(path)))
    maps = [made.start("stage", k).map for k in range(4)]
    assert maps[0].size == pytest.approx((25.0, 17.0))
    assert maps[0] is maps[1]
    assert maps[1] is not maps[2]
    path.write_text(MAP_FILE.replace("rosnav", "rosnaf"))
    with pytest.raises(ValueError, match="did you mean 'rosnav"):
        DynamicMap(file=str(path))
    path.write_text(MAP_FILE.replace("episode_per_map: 2", "episode_per_map: 0"))
    with pytest.raises(ValueError, match="episode_per_map: expected an integer in"):
        DynamicMap(file=str(path))
    path.write_text(MAP_FILE.replace("width: 50", "width: .inf"))
    with pytest.raises(ValueError, match=r"map_generator.yaml:4: map_properties.width"):
        DynamicMap(file=str(path))


def test_forbidden_zones_keep_everybody_out_and_a_module_says_which_they_are():
    def touched(zone, *modules, **stage):
        made = suite(*modules, obstacles=Random(dynamic=(8, 8)))
        made = replace(made, stages=(replace(made.stages[0], **stage),))
        starts = [made.start("stage", k) for k in range(9)]
        points = [np.vstack([s.robots[0].pose[None, :2], s.robots[0].goals[:, :2], s.pedestrians.position]) for s in starts]
        return zone.contains(np.vstack(points)).any()

    assert not touched(STORE)
    assert touched(LAB)
    assert not touched(STORE, ClearForbiddenZones())
    assert touched(STORE, ClearForbiddenZones(("staff",)))
    assert not touched(LAB, ClearForbiddenZones(("staff",)))
    assert touched(STORE, ClearForbiddenZones(()))
    assert touched(STORE, forbidden=())


def test_modules_run_in_their_order_also_those_that_one_adds():
    @dataclass(frozen=True)
    class Adds(Module):
        def before_reset(self, plan: ResetPlan) -> ResetPlan:
            later = Named("later", ClearForbiddenZones(("staff",)))
            return replace(plan, stage=replace(plan.stage, forbidden=("x",), modules=(*plan.stage.modules, later)))

    @dataclass(frozen=True)
    class Empties(Module):
        def after_reset(self, task):
            task.pedestrians.clear()

    start = suite(Adds(), Empties()).start("stage", 0)
    assert len(start.pedestrians.id) == 0
    points = [suite(Adds()).start("stage", k).robots[0].pose[None, :2] for k in range(9)]
    assert not LAB.contains(np.vstack(points)).any()


def test_modules_of_a_suite_survive_the_way_through_a_file(curriculum):
    text = f"""
name: small
stages:
  - name: one
    world: {{name: open}}
    obstacles: {{name: random, dynamic: {{min: 1, max: 2, models: [actor1]}}}}
    modules: [{{name: staged, curriculum: {curriculum}, index: 1}}, {{name: dynamic_map, generator: barn}}, clear_forbidden_zones]
    seed: 4
"""
    made = parse(text, Suite)
    assert made.seed_of("one") == 4
    again = parse(dump(made), Suite)
    assert again == made
    assert identical(again.start("one", 1), made.start("one", 1))


def test_a_benchmark_plays_its_stages_one_after_the_other_once_for_each_planner():
    module = Benchmark()
    read = module.read()
    entries, planners = read.suite.entries(), read.contestants
    stage = Stage("any", Named.of("worlds", "open"), modules=(Named("benchmark", module),))
    for episode in range(2 * len(entries)):
        start = put_together(ResetPlan("anything", stage, episode, read.suite.seed))
        name, number = entries[episode % len(entries)]
        assert identical(start, read.suite.start(name, number))
        assert module.contestant(episode) == planners[episode // len(entries) % len(planners)]


def test_a_wrong_benchmark_is_refused():
    with pytest.raises(ValueError, match="path: .*config.yaml: there is no such file"):
        Benchmark("./nowhere")


def test_an_unknown_module_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="no module called 'stagde'; did you mean 'staged'"):
        build({"name": "s", "stages": [{"name": "a", "world": "open", "modules": ["stagde"]}]}, Suite)
