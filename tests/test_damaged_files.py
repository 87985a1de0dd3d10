"""Damaged files of every format: each is read, or refused with an error of Agora's, soon, and without gigabytes."""

from __future__ import annotations

import re
import resource
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agora.benchmark.bench import run_all
from agora.benchmark.contest import read_contest
from agora.benchmark.exports.mcap import write_mcap_files
from agora.benchmark.request import Options, Request
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.recordings import recordings
from agora.config import load
from agora.datasets import barn, dynabarn, socnavbench
from agora.datasets.eth_ucy import map_of_image, read_homography, read_scene
from agora.datasets.hunav_agents import read_hunav
from agora.datasets.irsim_world import read_irsim
from agora.datasets.mcap_recording import entries_of
from agora.datasets.mcapfile import McapMessage, encode_mcap
from agora.datasets.played import PlayedEpisode, PlayedRobot
from agora.datasets.recorded import Unsaid, read_all
from agora.draft.scenario import read_scenario
from agora.errors import AgoraError
from agora.maps.exact import read_exact, write_exact
from agora.maps.furniture import ModelFile
from agora.maps.generators.arena import ArenaGenerator
from agora.maps.io import read_map
from agora.maps.place import read_place, write_place
from agora.pedestrians.shared.potential import load_potential
from agora.robots.model import load_robot
from agora.share import folder
from agora.tasks.modules.staged import CurriculumStage
from agora.tasks.parametrized import read_parametrized
from agora.tasks.robot_setup import read_robot_setup
from agora.tasks.robots.guided import Route
from agora.tasks.roles import Roles
from agora.tasks.settings import Settings
from agora.tasks.suite import load_suite
from tests import small_sets
from tests.datasets.test_robot_bag import write_drive
from tests.places import furnished, shaped
from tests.recordings import crowded
from tests.suites import plane, planners

SOONEST, LARGEST = 10.0, 1 << 30
"""No reading takes more processor time, s, and all together need no more memory, bytes."""
ROLES = """\
pedestrians:
  - {name: visitor, type: human/adult, model: actor1, waypoints in: [public], number of waypoints: [2,3], amount: 5}
robots:
  - name: cleaning robot
    waypoints in: '*'
"""


@dataclass(frozen=True)
class Format:
    """One format: what writes an undamaged example into a folder, and what reads it there."""

    make: Callable[[Path], object]
    read: Callable[[Path], object]


def text(name: str, content: str, read: Callable[[Path], object]) -> Format:
    return Format(lambda place: (place / name).write_text(content), lambda place: read(place / name))


def copy(source: Path, read: Callable[[Path], object]) -> Format:
    return Format(lambda place: shutil.copy(source, place), lambda place: read(place / source.name))


def make_map(place: Path) -> Path:
    """A free map of 9 x 8 m."""
    Image.new("L", (90, 80), 254).save(place / "hall.pgm")
    numbers = "resolution: 0.1\norigin: [-0.5, 0.0, 0.0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n"
    (place / "hall.yaml").write_text(f"image: hall.pgm\n{numbers}")
    return place / "hall.yaml"


def make_picture(place: Path) -> None:
    Image.fromarray(np.eye(20, 30, dtype=np.uint8) * 255).save(place / "map.png")
    (place / "H.txt").write_text("0.1 0.01 -3\n0 0.2 1\n0.001 0.0 1\n")


def make_run(place: Path) -> None:
    run_all(Request(plane(episodes=2), planners("go_to_goal"), place / "run", Options(workers=0)))


def episode_entries() -> list[McapMessage]:
    recording = crowded(np.arange(4) * 0.2, people=4)
    return list(entries_of(PlayedEpisode(Path("here"), "odd", "hall", 3, 12, (PlayedRobot("orca", "jackal", recording),))))


def write_episode(place: Path) -> None:
    for number, entry in enumerate(episode_entries()):
        (place / f"{number}.json").write_bytes(entry.data)


def read_episode(place: Path) -> None:
    entries = [entry._replace(data=(place / f"{n}.json").read_bytes()) for n, entry in enumerate(episode_entries())]
    packed = place.parent / "a.mcap"
    packed.write_bytes(encode_mcap(entries, {}))
    read_all([packed], Unsaid())


def read_run(place: Path) -> None:
    found = audit_run(place / "run")
    found.problems()
    recordings(place / "run", [row["key"] for row in found.rows])


SHARE, BAG = folder("configs"), Path(__file__).parent / "datasets" / "bags" / "two_robots.bag"
FORMATS = {
    "suite": copy(SHARE / "benchmark" / "demo.yaml", load_suite),
    "robot": copy(SHARE / "robots" / "jackal_barn.yaml", load_robot),
    "settings": copy(SHARE / "task_generator.yaml", lambda path: load(path, Settings)),
    "curriculum": copy(SHARE / "training" / "curriculums" / "default.yaml", lambda path: load(path, tuple[CurriculumStage, ...])),
    "map_generator": copy(SHARE / "map_generator" / "default.yaml", lambda path: load(path, ArenaGenerator)),
    "roles": text("roles.yaml", ROLES, lambda path: load(path, Roles)),
    "route": text("route.yaml", "start: [0.0, 1.0, 0.5]\nwaypoints: [[-4.0, 0.0], [4, 5, 1.5]]\n", lambda path: load(path, Route)),
    "robots": text("robots.yaml", "robots:\n- {model: jackal, planner: dwa, amount: 2}\n- {model: burger}\n", read_robot_setup),
    "obstacles": text(
        "obstacles.xml",
        '<random><static><obstacle name="shelf" min="2" max="7" model="shelf"/></static><dynamic><obstacle name="a">'
        "<min>1</min><max>3</max><model>actor1</model></obstacle></dynamic></random>",
        read_parametrized,
    ),
    "model": text(
        "model.yaml",
        "name: crate\nboxes: [{x: 0, y: 0.1, z: 0, length: 0.5, width: 0.4, height: 1.0}]\n",
        lambda path: load(path, ModelFile),
    ),
    "irsim": text(
        "yard.yaml",
        "world: {height: 9, width: 14, offset: [-3, 1.5]}\n"
        "robot:\n  - {kinematics: {name: diff}, state: [-2, 3, 1], goal: [9, 8]}\n"
        "obstacle:\n  - {number: 2, state: [[1, 2, 0], [8, 4, 0]], shape: [{name: circle, radius: 0.4}, {name: rectangle}]}\n"
        "  - {kinematics: {name: omni}, behavior: {name: rvo, loop: true}, distribution: {name: circle, radius: 3}, number: 2}\n",
        read_irsim,
    ),
    "hunav": text(
        "agents.yaml",
        "hunav_loader:\n  ros__parameters:\n    map: hall\n    agents: [anna]\n    anna:\n      behavior: {type: 5}\n"
        "      max_vel: 1.5\n"
        "      init_pose: {x: 1.5, y: 2.0, h: 0.4}\n      goal_radius: 0.6\n      goals: [g0]\n      g0: {x: 6.0, y: 2.0}\n",
        lambda path: read_hunav(path, make_map(path.parent)),
    ),
    "contest": Format(
        lambda place: shutil.copytree(SHARE / "benchmark" / "arena", place / "arena"), lambda place: read_contest(place / "arena")
    ),
    "scenario": copy(folder("scenarios") / "worlds" / "hospital" / "scenarios" / "waiting_hall.json", read_scenario),
    "place": Format(lambda place: write_place(furnished(), place), read_place),
    "shapes": Format(lambda place: write_place(furnished(exact=True), place), read_place),
    "pgm": Format(
        lambda place: (
            (place / "a.pgm").write_bytes(b"P5\n# made up\n7 5\n255\n" + bytes(range(200, 235))),
            (place / "a.yaml").write_text("image: a.pgm\nresolution: 0.5\norigin: [-1, 2, 0]\nmode: scale\n"),
        ),
        lambda place: read_map(place / "a.yaml"),
    ),
    "exact": Format(lambda place: write_exact(shaped().map, place / "a.npz"), lambda place: read_exact(place / "a.npz")),
    "potential": copy(next((SHARE / "pedestrians").glob("*.safetensors")), load_potential),
    "run": Format(make_run, read_run),
    "bag": copy(BAG, lambda path: read_all([path], Unsaid())),
    "drive": Format(lambda place: write_drive(place / "a.bag"), lambda place: read_all([place / "a.bag"], Unsaid())),
    "mcap": Format(lambda place: write_mcap_files(place, [BAG]), lambda place: read_all([place / "two_robots.mcap"], Unsaid())),
    "recording": Format(write_episode, read_episode),
    "arena_folder": Format(lambda place: small_sets.arena_folder(place / "arena"), lambda place: read_all([place], Unsaid())),
    "barn": Format(small_sets.small_barn, barn.check),
    "dynabarn": Format(small_sets.small_dynabarn, dynabarn.check),
    "socnavbench": Format(small_sets.small_socnavbench, socnavbench.check),
    "eth_ucy": Format(small_sets.crooked_zara, lambda place: read_scene("zara01", "annotation", folder=place)),
    "picture": Format(
        make_picture, lambda place: map_of_image(place / "map.png", read_homography(place / "H.txt"), name="m", resolution=0.5)
    ),
}
TOKENS = [
    b"", b"0", b"-", b"-1", b"9", b"1e999", b"1e30", b"-1e9", b".nan", b"NaN", b"nan", b"inf", b"null", b"~", b"[]", b"{}", b"[[]]",
    b" ", b"\n", b"\t", b",", b":", b".", b"]", b"{", b'"', b"<", b"&a ", b"*a", b"!!set ", b"\xff", b"\0", b"\x7f\xff\xff\xff",
    b"7777777", b"99999999999999999999", b"true", b"\xef\xbb\xbf", "\u2028".encode(), b"../../x", b"/dev/zero", b"[" * 3000,
]  # fmt: skip
NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][-+]?\d+)?")


def damaged(content: bytes, draw: np.random.Generator) -> bytes:
    """The content with one to three damages: bytes put in, out or over, a number in another's place, a part twice, an end lost."""
    for _ in range(draw.integers(1, 4)):
        at, length = int(draw.integers(0, len(content) + 1)), int(draw.integers(0, 9))
        token, kind = TOKENS[draw.integers(len(TOKENS))], draw.integers(0, 6)
        if kind == 0:
            content = content[:at] + token + content[at + length :]
        elif kind == 1:
            content = content[:at] + draw.bytes(length) + content[at + length :]
        elif kind == 2 and (found := NUMBER.search(content, at)) is not None:
            content = content[: found.start()] + token + content[found.end() :]
        elif kind == 3:
            content = content[:at] + content[at : at + 10 * length] + content[at:]
        elif kind == 4 and draw.integers(0, 4) == 0:
            content = content[:at]
        elif kind == 5 and at < len(content):
            content = content[:at] + bytes([content[at] ^ (1 << draw.integers(0, 8))]) + content[at + 1 :]
    return content


def attack(one: Format, place: Path, name: str, count: int) -> int:
    """Read ``count`` damaged versions of a format's files; return how many were refused."""
    place.mkdir()
    one.make(place)
    one.read(place)
    files = {path: path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}
    refused, before = 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for k in range(count):
        draw = np.random.default_rng([k, *name.encode()])
        path = list(files)[draw.integers(len(files))]
        path.write_bytes(damaged(files[path], draw))
        began = time.process_time()
        try:
            one.read(place)
        except AgoraError as error:
            refused += 1
            assert str(error).encode()
        except BaseException as error:
            raise AssertionError(f"{name}, number {k}: {type(error).__name__} instead of an error of Agora's") from error
        finally:
            path.write_bytes(files[path])
        assert time.process_time() - began < SOONEST, f"{name}, number {k}"
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < LARGEST
    return refused


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_read_or_refused(tmp_path, name):
    assert attack(FORMATS[name], tmp_path / "set", name, 60) > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_are_read_or_refused_thousands_of_times(tmp_path, name):
    attack(FORMATS[name], tmp_path / "set", name, 4000)
