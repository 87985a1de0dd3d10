"""Arena's benchmark files: read, turned into a suite and planners, refused where they are wrong, never written to."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agora.benchmark.bench import run_all
from agora.benchmark.contest import read_contest
from agora.benchmark.request import Options, Request
from agora.errors import InputError
from agora.tasks.arena_benchmark import read_arena_benchmark
from agora.tasks.obstacles.random import Random
from agora.testing.guard import identical

FILES = {
    "config.yaml": """suite:
  config: basic.yaml
  scale_episodes: 1

contest:
  config: inter.yaml

general:
  simulator: flatland
""",
    "suites/basic.yaml": """stages:
  - name: scenario
    episodes: 2
    robot: jackal
    map: corridor
    tm_robots: scenario
    tm_obstacles: scenario
    config:
      SCENARIO:
        file: counterflow.json
  - name: mixed
    episodes: 4
    robot: cob4
    map: hall
    tm_robots: random
    tm_obstacles: random
    seed: 77
    timeout: 8
    config:
      RANDOM:
        static: {min: 1, max: 2, models: ["table"]}
        interactive: {min: 0, max: 0, models: ["shelf"]}
        dynamic: {min: 3, max: 5, models: ["actor1"]}
  - {name: new_map, episodes: 1, robot: jackal, map: dynamic_map, tm_robots: random, tm_obstacles: random, config: {}}
""",
    "contests/inter.yaml": """contestants:
  - name: carrot
    local_planner: pure_pursuit
  - name: straight
    local_planner: go_to_goal
    inter_planner: bypass
""",
}


@pytest.fixture
def files(tmp_path):
    def write(name="config.yaml", old="", new=""):
        for path, text in FILES.items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            assert path != name or old in text
            (tmp_path / path).write_text(text.replace(old, new, 1) if path == name and old else text)
        return tmp_path

    return write


def test_a_benchmark_becomes_a_suite_and_planners(files):
    suite, planners = read_contest(files())
    assert suite.name == "basic"
    assert [(s.name, s.count, s.robot, s.robots.name, s.obstacles.name, s.timeout) for s in suite.stages] == [
        ("scenario", 2, "jackal", "scenario", "scenario", 60.0),
        ("mixed", 4, "cob4", "random", "random", 8.0),
        ("new_map", 1, "jackal", "random", "random", 60.0),
    ]
    assert isinstance(suite.stage("mixed").obstacles.part, Random)
    starts = [suite.start("mixed", k) for k in range(4)]
    assert {len(s.pedestrians.id) for s in starts} <= {3, 4, 5}
    assert {len(s.things) for s in starts} <= {1, 2}
    assert suite.start("new_map", 0).map.name.startswith("barn")
    assert {label: named.name for label, named in planners.items()} == {"carrot": "pure_pursuit", "straight": "go_to_goal"}


def test_the_seed_of_a_stage_is_its_own_or_the_suites_and_nobody_elses(files):
    one, other = read_contest(files())[0], read_contest(files("contests/inter.yaml", "carrot", "turnip"))[0]
    assert one.seed_of("mixed") == 77
    assert one.seed_of("scenario") == one.seed == other.seed
    assert all(identical(one.start(*entry), other.start(*entry)) for entry in one.entries())


@pytest.mark.parametrize(("scale", "counts"), [("0.5", [1, 2, 1]), ("3", [6, 12, 3]), ("0.01", [1, 1, 1])])
def test_episodes_are_scaled_and_never_less_than_one(files, scale, counts):
    suite, _ = read_contest(files(old="scale_episodes: 1", new=f"scale_episodes: {scale}"))
    assert [s.count for s in suite.stages] == counts


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("config.yaml", "basic.yaml", "basik.yaml", "config.yaml:2: suite.config: there is no file"),
        ("config.yaml", "inter.yaml", "inner.yaml", "did you mean 'inter.yaml'?"),
        (
            "config.yaml",
            "scale_episodes: 1",
            "scale_episodes: .nan",
            "config.yaml:3: suite.scale_episodes: expected a finite number",
        ),
        ("config.yaml", "contest:", "contests:", "config.yaml:5: contests: unknown key; did you mean 'contest'?"),
        (
            "suites/basic.yaml",
            "map: hall",
            "map: hal",
            "basic.yaml:11: stages[1]: path: no world called 'hal'; did you mean 'hall'?",
        ),
        ("suites/basic.yaml", "robot: cob4", "robot: cob5", "basic.yaml:11: stages[1]: robot: no robot called 'cob5'"),
        (
            "suites/basic.yaml",
            "tm_robots: random",
            "tm_robots: randon",
            "stages[1]: no robots mode called 'randon'; did you mean 'random'?",
        ),
        (
            "suites/basic.yaml",
            "min: 3, max: 5",
            "min: 6, max: 5",
            "basic.yaml:11: stages[1].config: RANDOM.dynamic: min and max: expected",
        ),
        ("suites/basic.yaml", "RANDOM:", "RANDON:", "stages[1].config: RANDON: unknown key; did you mean 'RANDOM'?"),
        ("suites/basic.yaml", "seed: 77", "seed: -7", "stages[1]: seed: expected an integer of at least 0"),
        (
            "suites/basic.yaml",
            "episodes: 4",
            "episodes: 0",
            "12: stages[1].episodes: expected an integer in [1, 1000000]",
        ),
        ("suites/basic.yaml", "name: mixed", "name: scenario", "stages must have different names"),
        ("suites/basic.yaml", "counterflow", "counterflaw", "basic.yaml:2: stages[0]: scenarios: no scenario of corridor"),
        ("contests/inter.yaml", "pure_pursuit", "pure_persuit", "inter.yaml:3: contestants[0].local_planner: no planner called"),
        (
            "contests/inter.yaml",
            "bypass",
            "polit",
            "inter.yaml:6: contestants[1].inter_planner: no interplanner called 'polit'; did you",
        ),
        ("contests/inter.yaml", "straight", "carrot", "inter.yaml:2: contestants: expected at least one, all with different names"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_key(files, name, old, new, message):
    with pytest.raises(InputError) as caught:
        read_contest(files(name, old, new))
    assert message in str(caught.value), str(caught.value)


def test_a_benchmark_of_arenas_is_run_and_its_files_are_left_alone(files, tmp_path_factory):
    place = files("suites/basic.yaml", "    episodes: 2", "    timeout: 2\n    episodes: 1")
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    suite, planners = read_contest(place)
    small = type(suite)(suite.name, (suite.stages[0],))
    results = tmp_path_factory.mktemp("results") / "run"
    rows = run_all(Request(small, planners, results, Options(workers=0)))
    assert sorted(row["planner"] for row in rows) == ["carrot", "straight"]
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


def test_the_shipped_benchmark_can_be_played():
    suite, planners = read_contest()
    assert [suite.start(*entry) for entry in suite.entries()]
    assert set(planners) == {"dwa", "orca", "pure_pursuit"}


PIECES = ["", "0", "-", "9", "1e999", ".nan", " ", "\n", ":", "]", "{", '"', "~", "&a ", "*a", "\t"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(sorted(FILES)),
    place=st.floats(0, 1),
    length=st.integers(0, 8),
    new=st.lists(st.sampled_from(PIECES), max_size=3),
)
def test_damaged_files_are_read_or_refused(files, name, place, length, new):
    root = files()
    at = int(place * len(FILES[name]))
    (root / name).write_text(FILES[name][:at] + "".join(new) + FILES[name][at + length :])
    try:
        read_arena_benchmark(root)
    except InputError as error:
        assert str(root) in str(error)
