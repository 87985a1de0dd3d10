"""Every number of robots, maps, suites and scenarios, made absurd one after the other: each is refused with the name of its key."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from agora.config import build, load
from agora.draft.stage import Stage
from agora.errors import InputError
from agora.maps.generators.arena import from_arena
from agora.maps.io import read_map, read_shapes
from agora.robots.model import RobotModel
from agora.seeds import Stream
from agora.share import folder
from agora.tasks.settings import Settings
from agora.tasks.setup import Setup
from agora.tasks.suite import ResetPlan, Suite, put_together
from tests.suites import write_world

ABSURD = (-1e9, 1e12, math.nan, "many", "1,5")
SUITE = {
    "name": "absurd",
    "seed": 3,
    "stages": [
        {
            "name": "one",
            "episodes": 2,
            "seed": 4,
            "world": {"name": "open", "width": 12.0, "height": 9.0, "x": -6.0, "y": 1.0},
            "robots": {"name": "random", "distance": 3.0, "count": 2, "goals": 2},
            "obstacles": {"name": "random", "dynamic": [2, 9], "static": [0, 2], "group_size": [1, 2]},
            "crowd": {
                "model": {"name": "helbing", "repulsion": 2.1},
                "people": {"speed": 1.3, "radius": 0.3, "types": {"adult": 1.0}},
            },
            "timeout": 30.0,
            "goal_tolerance": 0.3,
            "heading_tolerance": 0.5,
            "safety": 0.2,
            "periods": {"physics": 0.05, "control": 0.1},
        }
    ],
}
SCENARIO = {
    "robots": [{"start": [-3.0, 9.0, 0.1], "goal": [8.0, 3.0, 1.0]}],
    "obstacles": {
        "static": [{"name": "box", "model": "shelf", "pos": [2.0, 9.0, 0.4]}],
        "dynamic": [
            {"name": "ann", "pos": [6.0, 9.0, 0.0], "waypoints": [[7.0, 3.0], [-2.0, 4.0]], "vmax": 1.1, "wait_time": 1.0,
             "chatting_probability": 0.1, "talking_base_time": 3.0, "max_talking_distance": 2.0, "waypoint_mode": 0}
        ],
    },
}  # fmt: skip
MAP = {
    "image": "map.png",
    "resolution": 0.1,
    "origin": [-4.3, 2.1, 0.0],
    "negate": 0,
    "occupied_thresh": 0.65,
    "free_thresh": 0.196,
}
SHAPES = {
    "bounds": [-5.0, -1.5, 6.0, 6.5], "resolution": 0.1, "margin": 1.0, "segments": [[2.0, -1.0, 2.0, 4.0]],
    "discs": [[-2.0, 3.0, 0.8]],
    "polygons": [[[3.0, 1.0], [4.0, 1.0], [3.5, 2.0]]],
}  # fmt: skip


def leaves(tree: Any, keys: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the places of the numbers in a document."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield (*keys, key)
        yield from leaves(value, (*keys, key))


def put(tree: Any, keys: tuple[str | int, ...], value: Any) -> Any:
    changed = copy.deepcopy(tree)
    place = changed
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    return changed


def taken(tree: Any, read: Any, fine: set[tuple[str | int, Any]]) -> tuple[list[Any], int]:
    """Return the absurd values that were read, and how many were tried; ``fine`` are keys that may hold one."""
    read(tree)
    wrong, tried = [], 0
    for keys in leaves(tree):
        with suppress(InputError):  # zero may be right; if it is not, it is no other exception
            read(put(tree, keys, 0))
        for value in ABSURD:
            if (keys[-1], value) in fine or ((keys[-1], "any") in fine):
                continue
            tried += 1
            try:
                read(put(tree, keys, value))
            except InputError as error:
                named = [str(k) for k in keys if isinstance(k, str)]
                assert any(name in str(error) for name in [*named, "NaN is not a number"]), (keys, value, error)
            else:
                wrong.append((keys, value))
    return wrong, tried


def test_robots():
    tree = load(folder("configs") / "robots" / "jackal_barn.yaml", dict)
    wrong, tried = taken(tree, lambda t: build(t, RobotModel), set())
    assert not wrong and tried > 100


def test_suites():
    def read(tree):
        suite = build(tree, Suite)
        return put_together(ResetPlan(suite.name, suite.stages[0], 0, suite.seed))

    wrong, tried = taken(SUITE, read, set())
    assert not wrong and tried > 100


def test_scenarios(tmp_path):
    place = write_world(tmp_path / "room")
    (place / "scenarios").mkdir()

    def read(tree):
        (place / "scenarios" / "a.json").write_text(json.dumps(tree))
        world = {"name": "folder", "path": f"{place}/", "scenarios": ["a"]}
        stage = build({"name": "a", "world": world, "robots": "scenario", "obstacles": "scenario", "episodes": 1}, Stage)
        return put_together(ResetPlan("absurd", stage, 0, 1))

    wrong, tried = taken(SCENARIO, read, set())
    assert not wrong and tried > 100


def test_maps(tmp_path):
    write_world(tmp_path / "room")

    def read(name, reader):
        path = tmp_path / "room" / "map" / name

        def write_and_read(tree):
            path.write_text(json.dumps(tree).replace("NaN", ".nan"))
            return reader(path)

        return write_and_read

    wrong, tried = taken(MAP, read("map.yaml", read_map), set())
    more, others = taken(SHAPES, read("shapes.yaml", read_shapes), set())
    assert not wrong + more and tried + others > 100


def test_files_of_arena():
    maps = load(folder("configs") / "map_generator" / "default.yaml", dict)
    wrong, tried = taken(maps, lambda t: from_arena(t).part.generate(Stream("absurd", 1, "place")), {("episode_per_map", "any")})
    modes = load(folder("configs") / "task_generator.yaml", dict)
    endless = {(key, -1e9) for key in ("timeout", "episodes")}

    def read(tree):
        Setup(build(tree, Settings), obstacles="random").stage()

    more, others = taken(modes | {"timeout": 30.0}, read, endless)
    assert not wrong + more and tried + others > 80
