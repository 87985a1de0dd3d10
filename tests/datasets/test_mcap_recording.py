"""Recorded episodes as MCAP files: what comes back is what was recorded, and others can read it."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import random
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.records import Chunk
from mcap.writer import Writer
from tests.datasets.test_robot_bag import write_drive
from tests.played import small_suite
from tests.recordings import crowded, rounded
from tests.suites import fingerprint, planners, results
from typer.testing import CliRunner

from agora.benchmark.bench import run_all
from agora.benchmark.exports.mcap import write_mcap_files
from agora.benchmark.external_results import write_played
from agora.benchmark.request import Options, Request
from agora.benchmark.results import store
from agora.benchmark.results.copies import PLACE, START
from agora.cli.app import app
from agora.core.declared import declared_arrays
from agora.core.recording import Closing, Contact, ContactKind, Recording
from agora.core.state import robot_traits
from agora.datasets.bagfile import Bag
from agora.datasets.mcap_recording import EPISODE, entries_of, map_of
from agora.datasets.mcapfile import JSON, McapChannel, McapFile, McapMessage, _checked, encode_mcap
from agora.datasets.played import PlayedEpisode, PlayedRobot
from agora.datasets.recorded import Unsaid, read_all
from agora.errors import InputError, ResultsError, UnknownNameError
from agora.maps.grid import Map
from agora.metrics.registered import metrics
from agora.robots.model import load_robot

BAG = Path(__file__).parent / "bags" / "two_robots.bag"


def full() -> Recording:
    """A recording that has everything that one may have; pedestrians come, go, and are in groups."""
    drive, rng = rounded(crowded(np.arange(41) * 0.1 + 3.0, people=9)), np.random.default_rng(8)
    t, p = drive.pedestrian_present.shape
    traits = robot_traits(1, 1, len(load_robot("jackal").footprint))
    load_robot("jackal").fill(traits, 0, 0)
    there = drive.pedestrian_present.copy()
    there[30:, np.flatnonzero(there[29])[-1]] = False
    touched = drive.pedestrian_position[20, 4]
    groups = np.full((t, p), -1, np.int32)
    groups[:, :3], groups[10:, 5:7] = 4, 6
    occupied = np.zeros((23, 31), bool)
    occupied[0], occupied[7:9, 3:6] = True, True
    unknown = np.zeros_like(occupied)
    unknown[15, 20] = True
    shapes = {"segments": np.array([[4.0, -6.0, 5.5, -3.25]]), "discs": np.array([[7.5, -2.0, 0.4]])}
    place = Map(name="hall", resolution=0.5, origin=(1.5, -8.0), occupied=occupied, unknown=unknown, **shapes)
    contact = Contact(1.2375, ContactKind.PEDESTRIAN, 11, *touched.tolist(), Closing(0.75, -0.125, False))
    changes = {
        "time": drive.time - drive.time[0], "pedestrian_present": there,
        "pedestrian_group": groups, "contacts": (contact,), "shortest_path": math.inf,
        "undisturbed": drive.pedestrian_position + 0.125, "pedestrian_state": rng.integers(0, 5, (t, p)).astype(np.int32),
        "door": np.linspace(0, 1, t).astype(np.float32).astype(float), "command": drive.twist[:-1] + 0.25,
        "reason": rng.integers(0, 8, t - 1).astype(np.int32),
        "planned_path": np.array([[0.0, 1.5, 2.25], [0.0, 3.5, 2.25], [1.0, 2.5, 2.25]]),
        "speed_limit": np.full(t - 1, 0.75), "danger": np.full(t - 1, 0.5),
        "reference_path": 41.5, "shortest_turn": 0.625,
        "robot": traits, "command_delay": 0.1, "planning_time": rng.uniform(0.01, 0.02, t - 1),
        "sensors": {
            "scan": {"ranges": np.full((t - 1, 5), np.inf, np.float32)},
            "camera": {"image": np.arange((t - 1) * 6, dtype=np.uint8).reshape(t - 1, 3, 2), "lit": np.arange(t - 1) % 3 == 1},
        },
        "map": place, "clipped": 3, "failure": 'a "word"',
    }  # fmt: skip
    return dataclasses.replace(drive, **changes)


def played(*recordings: Recording) -> PlayedEpisode:
    robots = tuple(PlayedRobot("dwa:sim_time=0.8", "jackal", recording) for recording in recordings)
    return PlayedEpisode(Path("here"), "odd", "hall", 3, 12, robots)


def masked(recording: Recording) -> Recording:
    """The recording with zeros where pedestrians are absent."""
    there = recording.pedestrian_present
    changes = {}
    for name, one in declared_arrays(Recording).items():
        value = getattr(recording, name)
        if one.masked and value is not None:
            changes[name] = np.where(there.reshape(there.shape + (1,) * (value.ndim - 2)), value, 0).astype(value.dtype)
    return dataclasses.replace(recording, **changes)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of two robots among pedestrians, one of which touches a wall, and its MCAP files."""
    folder = tmp_path_factory.mktemp("run")
    run_all(Request(small_suite(folder / "room", episodes=2), planners("go_to_goal"), folder / "run", Options(workers=0)))
    write_mcap_files(folder / "mcap", [folder / "run"])
    return folder


@pytest.fixture(scope="module")
def bagged(tmp_path_factory):
    """The MCAP file of a bag."""
    return write_mcap_files(tmp_path_factory.mktemp("bagged"), [BAG])[0]


def of_json(path: Path) -> dict[str, list[tuple[int, dict, dict]]]:
    """Time, content and schema of the messages of JSON by the name of their schema, by MCAP's own reader."""
    found: dict[str, list[tuple[int, dict, dict]]] = {}
    with path.open("rb") as file:
        for schema, channel, message in make_reader(file, validate_crcs=True).iter_messages():
            if channel.message_encoding == "json":
                assert schema.encoding == "jsonschema"
                content = (message.log_time, json.loads(message.data), json.loads(schema.data))
                found.setdefault(schema.name, []).append(content)
    return found


def misfits(value, schema, where="message"):
    """Return the places at which a value is not as its JSON schema says, or has fields of which the schema says nothing."""
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
    kind = schema["type"]
    if not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return [f"{where}: {value!r} is no {kind}"]
    if kind == "array":
        return [m for k, one in enumerate(value) for m in misfits(one, schema["items"], f"{where}[{k}]")]
    if kind == "object" and "properties" in schema:
        known = schema["properties"]
        wrong = [f"{where} lacks {name}" for name in schema["required"] if name not in value]
        wrong += [f"{where} has {name}" for name in value if name not in known]
        return wrong + [m for name, one in value.items() if name in known for m in misfits(one, known[name], f"{where}.{name}")]
    return []


def test_a_recording_comes_back_to_the_bit_with_everything_that_it_may_have(tmp_path):
    ours, alone = full(), rounded(crowded(np.arange(12) * 0.1, people=0))
    said = played(ours, alone)
    (tmp_path / "a.mcap").write_bytes(encode_mcap(entries_of(said), map_of(said)))
    (back,) = read_all([tmp_path / "a.mcap"], Unsaid())
    assert (back.entry, back.seed, back.conditions) == ("odd/hall/3", 12, None)
    assert [(r.planner, r.model) for r in back.robots] == [("dwa:sim_time=0.8", "jackal")] * 2
    assert [fingerprint(r.recording) for r in back.robots] == [fingerprint(masked(ours)), fingerprint(alone)]
    assert back.robots[0].recording.planning_time.tolist() == ours.planning_time.tolist()
    place = back.robots[0].recording.map
    assert place.origin == (1.5, -8.0) and place.unknown[15, 20] and place.discs.tolist() == [[7.5, -2.0, 0.4]]


def test_every_metric_of_a_run_is_the_same_after_a_detour_by_mcap(tmp_path):
    write_played(tmp_path / "run", [played(full())])
    (path,) = write_mcap_files(tmp_path / "mcap", [tmp_path / "run"])
    assert path.name == "odd.hall.3.dwa:sim_time=0.8.mcap"
    robot = read_all([path], Unsaid())[0].robots[0]
    measures = metrics()
    before = {metric.name: metric(full()) for metric in measures}
    after = {metric.name: robot.measure(metric) for metric in measures}
    known = {name: value for name, value in before.items() if value is not None}
    assert len(known) > 0.8 * len(before) > 100
    assert {name for name, value in after.items() if value is not None} == set(known)
    assert {name: after[name] for name in known} == pytest.approx(known, rel=1e-6, abs=1e-6)


def test_rows_and_recordings_of_a_benchmark_are_the_same_after_a_detour_by_mcap(run, tmp_path):
    names = sorted(path.name for path in (run / "mcap").iterdir())
    assert names == ["small.helbing.0.go_to_goal.mcap", "small.helbing.1.go_to_goal.mcap"]
    episodes = read_all([run / "mcap"], Unsaid())
    assert any(robot.recording.contacts for one in episodes for robot in one.robots)
    assert episodes[0].conditions is not None and episodes[0].conditions.perception.source == "truth"
    write_played(tmp_path / "back", episodes)
    back, first = (results(folder, tmp_path, without=(START, PLACE)) for folder in (tmp_path / "back", run / "run"))
    assert back == first
    timing = [{row["key"]: row for row in store.read_rows(folder / "timing")} for folder in (run / "run", tmp_path / "back")]
    assert timing[0].keys() == timing[1].keys()
    for key, row in timing[0].items():
        assert row["planning_time"] > 0 and timing[1][key]["planning_time"] == pytest.approx(row["planning_time"], rel=1e-6)


def test_a_bag_and_its_mcap_give_the_same_results_to_the_byte(bagged, tmp_path):
    for name, path in (("bag", BAG), ("mcap", bagged)):
        write_played(tmp_path / name, read_all([path], Unsaid()))
    assert results(tmp_path / "mcap", tmp_path) == results(tmp_path / "bag", tmp_path)
    ours, theirs = list(McapFile(bagged).messages()), list(Bag(BAG).messages())
    assert ours == theirs and len(ours) > 100


def test_the_bag_of_a_drive_and_its_mcap_give_the_same_results(tmp_path):
    write_drive(tmp_path / "drive.bag")
    (path,) = write_mcap_files(tmp_path / "out", [tmp_path / "drive.bag"])
    for name, source in (("bag", tmp_path / "drive.bag"), ("mcap", path)):
        write_played(tmp_path / name, read_all([source], Unsaid.of("jackal", "4.5,2.0", "teb")))
    assert results(tmp_path / "mcap", tmp_path) == results(tmp_path / "bag", tmp_path)


def test_recorded_scans_are_where_the_lidar_is_and_beams_that_met_nothing_end_at_its_range(tmp_path):
    lidar = load_robot("jackal").lidar
    ranges = np.full((40, lidar.beams), 2.5, np.float32)
    ranges[3, 7], ranges[3, 8] = np.inf, 1.25
    recording = dataclasses.replace(full(), sensors={"scan": {"ranges": ranges}})
    write_played(tmp_path / "run", [played(recording)])
    found = of_json(write_mcap_files(tmp_path / "mcap", [tmp_path / "run"])[0])["foxglove.LaserScan"]
    assert len(found) == 40
    time, content, schema = found[3]
    assert not misfits(content, schema) and time == round(recording.time[3] * 1e9)
    assert content["ranges"][6:9] == [2.5, lidar.range_max, 1.25] and content["frame_id"] == "robot_0"
    assert (content["pose"]["position"]["x"], content["pose"]["position"]["y"]) == (lidar.x, lidar.y)
    assert content["start_angle"] == lidar.angle_min and content["end_angle"] == pytest.approx(lidar.angle_max)
    assert "foxglove.LaserScan" not in of_json(write_mcap_files(tmp_path / "other", [BAG])[0])


@pytest.mark.parametrize("of", ["run", "bag", "full"])
def test_all_messages_of_json_are_as_their_schemas_say(run, bagged, tmp_path, of):
    write_played(tmp_path / "run", [played(full())])
    path = {"run": run / "mcap" / "small.helbing.1.go_to_goal.mcap", "bag": bagged}.get(of)
    found = of_json(path or write_mcap_files(tmp_path / "mcap", [tmp_path / "run"])[0])
    assert {"foxglove.FrameTransform", "foxglove.SceneUpdate", "foxglove.Grid"} <= set(found)
    assert {"agora.Episode", "agora.Sample"} <= set(found) or of == "bag"
    for name, messages in found.items():
        for _, content, schema in messages:
            assert schema["title"] == name and misfits(content, schema) == []


def test_foxglove_shows_what_was_recorded_where_and_when_it_was(tmp_path):
    ours, told = full(), played(full())
    write_played(tmp_path / "run", [told])
    found = of_json(write_mcap_files(tmp_path / "mcap", [tmp_path / "run"])[0])
    frames = found["foxglove.FrameTransform"]
    assert [time for time, _, _ in frames] == [round(t * 1e9) for t in ours.time]
    assert [time for time, _, _ in found["agora.Sample"]] == [time for time, _, _ in frames]
    turns = [2 * math.atan2(one["rotation"]["z"], one["rotation"]["w"]) for _, one, _ in frames]
    places = [(one["translation"]["x"], one["translation"]["y"]) for _, one, _ in frames]
    assert np.allclose(np.column_stack((places, turns)), ours.pose, atol=1e-9)
    shown: dict[str, dict] = {}
    for time, update, _ in found["foxglove.SceneUpdate"]:
        t = round(time / 1e8)
        for one in update["deletions"]:
            assert one["type"] == 0
            del shown[one["id"]]
        for one in update["entities"]:
            shown[one["id"]] = one
            if one["id"].startswith("pedestrian"):
                j = ours.pedestrian_id.tolist().index(int(one["id"].partition("_")[2]))
                spot = one["cylinders"][0]["pose"]["position"]
                assert [spot["x"], spot["y"]] == ours.pedestrian_position[t, j].tolist() and one["frame_id"] == "map"
    left = {int(name.partition("_")[2]) for name in shown if name.startswith("pedestrian")}
    assert left == set(ours.pedestrian_id[ours.pedestrian_present[-1]].tolist())
    assert (ours.pedestrian_present[29] & ~ours.pedestrian_present[30]).any() and not ours.pedestrian_present[0].all()
    assert {"robot_0", "goal_0", "contact_0_0"} <= set(shown) and shown["robot_0"]["frame_id"] == "robot_0"
    goal = shown["goal_0"]["cylinders"][0]["pose"]["position"]
    assert [goal["x"], goal["y"]] == ours.goal[:2].tolist()


def test_the_grid_is_the_map(tmp_path):
    write_played(tmp_path / "run", [played(full())])
    ((_, grid, _),) = of_json(write_mcap_files(tmp_path / "mcap", [tmp_path / "run"])[0])["foxglove.Grid"]
    cells = np.frombuffer(base64.b64decode(grid["data"]), np.uint8).reshape(-1, grid["row_stride"])
    place = full().map
    assert grid["column_count"] == 31 and (cells == 100).tolist() == place.cells.tolist()
    assert place.has_shapes and (cells == 255).tolist() == (place.unknown & ~place.cells).tolist()
    assert grid["cell_size"] == {"x": 0.5, "y": 0.5}
    assert grid["pose"]["position"] == {"x": 1.5, "y": -8.0, "z": 0.0}


def test_a_file_that_was_cut_off_says_what_is_missing(run, bagged, tmp_path):
    for source in (bagged, run / "mcap" / "small.helbing.1.go_to_goal.mcap"):
        data = source.read_bytes()
        for end in (8, 100, len(data) // 2, len(data) - 1):
            (tmp_path / "x.mcap").write_bytes(data[:end])
            with pytest.raises(InputError, match=r"x\.mcap: .*(its end is missing|damaged)"):
                read_all([tmp_path / "x.mcap"], Unsaid())
    (tmp_path / "x.mcap").write_bytes(b"#ROSBAG V2.0\n")
    with pytest.raises(InputError, match=r"x\.mcap: not an MCAP file; expected a file that begins with"):
        read_all([tmp_path / "x.mcap"], Unsaid())


def test_a_strange_file_says_what_it_lacks_and_what_it_holds(tmp_path):
    with (tmp_path / "x.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2")
        schema = writer.register_schema("nav_msgs/msg/Odometry", "ros2msg", b"")
        writer.add_message(writer.register_channel("/odom", "cdr", schema), 5, b"\0\1", 5)
        writer.finish()
    with pytest.raises(
        InputError,
        match=r"x\.mcap: .*neither Agora.s /agora/episode nor .* contains /odom \(nav_msgs/msg/Odometry, cdr\)",
    ):
        read_all([tmp_path / "x.mcap"], Unsaid())


def test_a_recording_that_lacks_a_part_says_which(tmp_path):
    entries = list(entries_of(played(full())))
    head, samples = entries[0], entries[1:]
    without = {name: value for name, value in json.loads(samples[7].data).items() if name != "twist"}
    late = [*entries[:8], McapMessage.json(samples[7].channel, samples[7].nanoseconds, without), *entries[9:]]
    robot = json.loads(head.data)
    del robot["robots"][0]["goal"]
    wide, named = json.loads(head.data), json.loads(head.data)
    wide["robots"][0]["radius"], named["seed"] = "wide", "12"
    wrong = {
        "40 of 41 samples of robot 0": entries[:-1],
        f"robot samples but no {EPISODE}": samples,
        "a sample of robot 0 lacks twist": late,
        f"robot 0 of {EPISODE} lacks goal": [McapMessage.json(head.channel, 0, robot), *samples],
        "radius: expected a JSON number, got 'wide'": [McapMessage.json(head.channel, 0, wide), *samples],
        "seed: expected a JSON integer, got '12'": [McapMessage.json(head.channel, 0, named), *samples],
        "the times of robot 0 decrease": [
            head,
            *(one._replace(nanoseconds=10**12 - one.nanoseconds) for one in samples),
        ],
        f"{EPISODE} is not JSON": [McapMessage(head.channel, 0, b"{"), *samples],
        f"{EPISODE} lacks suite, stage": [McapMessage(McapChannel(EPISODE, "agora.Episode", "{}", JSON), 0, b"{}"), *samples],
    }  # fmt: skip
    for message, content in wrong.items():
        (tmp_path / "x.mcap").write_bytes(encode_mcap(content, {}))
        with pytest.raises(InputError, match=rf"x\.mcap: .*{message}"):
            read_all([tmp_path / "x.mcap"], Unsaid())


def test_damaged_files_give_errors_of_agora_and_no_others(bagged, tmp_path):
    data, rng, refused = bagged.read_bytes(), random.Random(5), 0
    for _ in range(40):
        wrong = bytearray(data)
        for _ in range(rng.randint(1, 20)):
            wrong[rng.randrange(8, len(wrong))] = rng.randrange(256)
        (tmp_path / "x.mcap").write_bytes(bytes(wrong))
        try:
            read_all([tmp_path / "x.mcap"], Unsaid())
        except InputError as error:
            refused += "x.mcap" in str(error)
    assert refused > 20


def test_a_chunk_unpacks_to_what_it_says_and_no_more():
    import zstandard

    bomb = zstandard.compress(bytes(1 << 28))
    tracemalloc.start()
    for size in (768, 1 << 28, 1 << 40):
        chunk = Chunk("zstd", bomb, 0, 0, 0, 768 if size == 1 << 28 else size)
        with pytest.raises(ValueError, match="a chunk of"):
            _checked(chunk)
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()


def test_what_cannot_be_written_is_said_and_what_is_there_stays(run, bagged, tmp_path):
    before = bagged.read_bytes()
    with pytest.raises(ResultsError, match=r"two_robots\.mcap: already exists"):
        write_mcap_files(bagged.parent, [BAG])
    assert bagged.read_bytes() == before
    with pytest.raises(UnknownNameError, match="did you mean 'small/helbing/1/go_to_goal'"):
        write_mcap_files(tmp_path, [run / "run"], ["small/helbing/1/go_to_gaol"])
    with pytest.raises(InputError, match=r"--key a/b/0/c: keys select episodes of runs"):
        write_mcap_files(tmp_path, [BAG], ["a/b/0/c"])
    write_drive(tmp_path / "drive.bag")
    write_played(tmp_path / "drive", read_all([tmp_path / "drive.bag"], Unsaid()))
    with pytest.raises(InputError, match="lacks contacts; convert the bag itself"):
        write_mcap_files(tmp_path / "out", [tmp_path / "drive"])
    assert not (tmp_path / "out").exists()


def test_without_mcap_the_error_says_what_to_install(monkeypatch, bagged, tmp_path):
    monkeypatch.setitem(sys.modules, "mcap.writer", None)
    monkeypatch.setitem(sys.modules, "mcap.stream_reader", None)
    for do in (lambda: write_mcap_files(tmp_path, [BAG]), lambda: read_all([bagged], Unsaid())):
        with pytest.raises(InputError, match=r"-m pip install .*mcap\S* 'rosbags>="):
            do()


def test_the_command_line_writes_one_episode_of_a_run_and_reads_it(run, tmp_path):
    key = "small/helbing/1/go_to_goal"
    wrote = CliRunner().invoke(app, ["mcap", str(run / "run"), "--key", f"{key}/0", "--output", str(tmp_path / "out")])
    assert wrote.exit_code == 0 and [path.name for path in (tmp_path / "out").iterdir()] == ["small.helbing.1.go_to_goal.mcap"]
    read = CliRunner().invoke(app, ["bag", str(tmp_path / "out")], catch_exceptions=False)
    assert f"{key}/0: wall_collision" in read.output and f"{key}/1: " in read.output
