"""The store: what is written comes back, byte for byte the same, and what is damaged is run again."""

from __future__ import annotations

import dataclasses
import logging

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agora.benchmark.results import recording_shards, shard, store
from agora.core.declared import declared_arrays
from agora.core.recording import Closing, Contact, ContactKind, Outcome, Recording
from agora.core.state import SOCIAL_STATES, robot_traits
from agora.errors import InputError, ResultsError, UnknownNameError
from agora.interfaces import Metric
from agora.leaderboard.page import own_entries
from agora.metrics import (
    attention,
    blame,
    conflict,
    efficiency,
    motion,
    outcome,
    pedestrian_distance,
    personal_zones,
    wall_distance,
)
from agora.robots.model import RobotModel
from recordings import Wall, among, crowded, drive, rounded


def row(episode, planner="dwa", **columns):
    return {
        "suite": "demo",
        "stage": "corridor",
        "episode": episode,
        "seed": 2**40 + int(episode),
        "planner": planner,
        "robot": "jackal",
        "outcome": "reached",
        "success": 1.0,
        "time_to_goal": 12.1 + int(episode),
        **columns,
    }


def test_rows_come_back_as_they_were(tmp_path):
    rows = [row(0), row(1, success=0.0, time_to_goal=None, outcome="timeout"), row(0, "orca", time_to_goal=np.float64(0.1))]
    store.write_rows(tmp_path / "b.parquet", rows[:2])
    store.write_rows(tmp_path / "c.parquet", rows[2:])
    back = store.read_rows(tmp_path)
    assert back == [{"key": store.episode_key(r), **r} for r in rows]
    assert back[1]["key"] == "demo/corridor/1/dwa/jackal"
    assert store.read_rows(tmp_path / "c.parquet") == back[2:]
    assert store.finished_keys(tmp_path) == {
        "demo/corridor/0/dwa/jackal",
        "demo/corridor/1/dwa/jackal",
        "demo/corridor/0/orca/jackal",
    }


def test_identity_comes_first_and_the_rest_by_name(tmp_path):
    store.write_rows(tmp_path / "x.parquet", [row(0, spl=0.5, angle=1.0)])
    columns = list(store.read_rows(tmp_path)[0])
    assert columns == [*store.IDENTITY, "angle", "outcome", "spl", "success", "time_to_goal"]


def test_equal_rows_give_equal_bytes_whatever_the_order_of_their_columns(tmp_path):
    rows = [row(k, clipped=k, wall=True) for k in range(5)]
    store.write_rows(tmp_path / "x.parquet", rows)
    store.write_rows(tmp_path / "y.parquet", [dict(reversed(r.items())) for r in rows])
    assert (tmp_path / "x.parquet").read_bytes() == (tmp_path / "y.parquet").read_bytes()
    store.write_rows(tmp_path / "z.parquet", [*rows[:4], row(4, clipped=4, wall=False)])
    assert (tmp_path / "x.parquet").read_bytes() != (tmp_path / "z.parquet").read_bytes()


def test_a_columns_type_does_not_depend_on_which_values_a_shard_has(tmp_path):
    for name, value in (("a", 3), ("b", 3.5), ("c", None), ("d", np.int32(4)), ("e", Outcome.TIMEOUT)):
        store.write_rows(tmp_path / f"{name}.parquet", [row(ord(name), value=value)])
    values = [r["value"] for r in store.read_rows(tmp_path)]
    assert values == [3.0, 3.5, None, 4.0, 104.0]
    assert [type(v) for v in values] == [float, float, type(None), float, float]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no rows"),
        ([row(0), row(0)], "two rows for 'demo/corridor/0/dwa/jackal'"),
        ([row(0, stage="a/b")], "stage of a row: .*without '/', got 'a/b'"),
        ([row(0, planner="")], "planner of a row: .*, got ''"),
        ([row(0, seed=None)], "'seed': .*got NoneType"),
        ([row(0, seed=2**64)], "'seed'"),
        ([row(0), row("1")], "'episode': .*got int and str"),
        ([row(0, spl=float("nan"))], "'spl': .*or None, got NaN"),
        ([row(0, spl=0.5), row(1, spl="high")], "'spl': .*got float and str"),
        ([row(0, spl=[0.5])], "'spl': .*got list"),
    ],
)
def test_rows_that_make_no_sense_are_refused_and_nothing_is_written(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        store.write_rows(tmp_path / "x.parquet", rows)
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_shard_is_named_and_its_episodes_count_as_not_done(tmp_path, caplog):
    store.write_rows(tmp_path / "first.parquet", [row(0), row(1)])
    store.write_rows(tmp_path / "second.parquet", [row(2)])
    path = tmp_path / "first.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    (tmp_path / ".third.parquet.7.part").write_bytes(b"PAR1 half a shard")
    with caplog.at_level(logging.WARNING):
        assert store.finished_keys(tmp_path) == {"demo/corridor/2/dwa/jackal"}
    assert "first.parquet" in caplog.text and "not done" in caplog.text
    assert list(store.damaged_shards(tmp_path)) == [path]
    store.write_rows(path, [row(0), row(1)])
    assert len(store.finished_keys(tmp_path)) == 3
    assert store.damaged_shards(tmp_path) == {}


def test_nothing_is_doubled(tmp_path):
    store.write_rows(tmp_path / "x.parquet", [row(0)])
    store.write_rows(tmp_path / "y.parquet", [row(0)])
    with pytest.raises(ResultsError, match="two rows for 'demo/corridor/0/dwa/jackal'"):
        store.read_rows(tmp_path)


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    assert store.read_rows(tmp_path / "none") == []
    assert store.finished_keys(tmp_path / "none") == set()


def lively():
    recording = rounded(crowded(np.arange(9) * 0.1, 4))
    states = np.random.default_rng(3).integers(0, len(SOCIAL_STATES), recording.pedestrian_present.shape)
    return dataclasses.replace(recording, pedestrian_state=states.astype(np.int32))


def variety():
    contacts = (Contact(1.23456789012345, ContactKind.WALL, -1, 3.1, -2.7), Contact(2.0, ContactKind.PEDESTRIAN, 12, 0.1, 0.2))
    time = np.array([0.0, 0.1, 0.25])
    return {
        "a": rounded(crowded(np.arange(80) * 0.1, 5)),
        "b": rounded(drive(time, [1.0, 1.1, 1.3], [5.0] * 3, contacts=contacts, outcome=Outcome.WALL_COLLISION)),
        "c": dataclasses.replace(
            crowded([0.0], 1), shortest_path=float("inf"), failure="ValueError: ö", clipped=3, map=Wall((1, 2), 0.3)
        ),
        "d": rounded(drive(time, [1.0, 1.1, 1.3], [5.0] * 3, **among(time, (1.0, 2.0), (2.0, 3.0), present=[[False, True]]))),
    }


def test_recordings_come_back_as_they_were(tmp_path):
    items = {**variety(), "c": dataclasses.replace(rounded(variety()["c"]), planning_time=np.array([0.1])), "s": lively()}
    recording_shards.write_recordings(tmp_path / "x.parquet", items)
    back = recording_shards.read_recordings(tmp_path / "x.parquet")
    assert list(back) == list(items)
    for key, there in back.items():
        here = items[key]
        for field in dataclasses.fields(here):
            a, b = getattr(here, field.name), getattr(there, field.name)
            if field.name.startswith("pedestrian_") and a is not None and a.ndim >= 2:
                a, b = a[here.pedestrian_present], b[here.pedestrian_present]
            if field.name in ("map", "planning_time"):
                assert b is None or len(b) == 0
            elif isinstance(a, np.ndarray):
                assert a.dtype == b.dtype and np.array_equal(a, b), field.name
            else:
                assert type(a) is type(b) and a == b, field.name
        assert all(isinstance(c.kind, ContactKind) for c in there.contacts)


def test_how_a_robot_moves_and_who_closed_a_gap_come_back_to_the_bit(tmp_path):
    box = RobotModel("box", "holonomic", 0.6, (-0.3, 1.1), 0.7, 0.4, ax=0.9, footprint=((-0.3, -0.2), (0.5, -0.2), (0.1, 0.3)))
    traits = robot_traits(1, 1, 3)
    box.fill(traits, 0, 0)
    contact = Contact(0.2, ContactKind.PEDESTRIAN, 7, 1.0, 5.0, Closing(0.31, -0.02, standing=False))
    here = dataclasses.replace(variety()["b"], robot=traits, command_delay=0.15, contacts=(contact,))
    recording_shards.write_recordings(tmp_path / "x.parquet", {"a": variety()["a"], "b": here})
    back = recording_shards.read_recordings(tmp_path / "x.parquet")
    assert back["a"].robot is None and back["b"].command_delay == 0.15 and back["b"].contacts == (contact,)
    for mine, other in zip(traits, back["b"].robot, strict=True):
        assert mine.dtype == other.dtype and np.array_equal(mine, other)


def test_a_shard_from_before_contacts_said_who_closed_the_gap_is_read(tmp_path):
    """Their type is the one of then; that of a shard today has ``closing`` besides."""
    path = tmp_path / "x.parquet"
    recording_shards.write_recordings(path, variety())
    table = shard.read(path)
    number, events = table.column_names.index("contacts"), table.column("contacts").to_pylist()
    fields = [field for field in table.schema.field("contacts").type.value_type if field.name != "closing"]
    of_then = pa.array(
        [[{k: v for k, v in c.items() if k != "closing"} for c in row] for row in events], pa.list_(pa.struct(fields))
    )
    shard.write(tmp_path / "old.parquet", shard.encode(of_version_1(table.set_column(number, "contacts", of_then))))
    back = recording_shards.read_recordings(tmp_path / "old.parquet")["b"]
    assert [c.closing for c in back.contacts] == [None, None] and back.robot is None
    assert blame.collisions_by_robot(back) is None and outcome.collisions_pedestrian(back) == 1.0


def test_every_shard_has_the_same_columns_so_that_a_folder_reads_as_one_table(tmp_path):
    """A reader that takes the columns of the first file, as pyarrow and polars do, loses none of a later one."""
    items = variety()
    recording_shards.write_recordings(tmp_path / "a.parquet", {"a": items["a"]})
    recording_shards.write_recordings(tmp_path / "b.parquet", items | {"s": lively()})
    table = pq.read_table(tmp_path)
    states = dict(zip(table["key"].to_pylist(), table["pedestrian_state"].to_pylist(), strict=True))
    assert states["a"] is None and len(states["s"]) == lively().pedestrian_state.size
    assert recording_shards.read_recordings(tmp_path / "a.parquet")["a"].pedestrian_state is None


def test_metrics_of_a_stored_recording_are_those_of_the_original(tmp_path):
    here = rounded(crowded())
    recording_shards.write_recordings(tmp_path / "x.parquet", {"k": here})
    there = recording_shards.read_recordings(tmp_path / "x.parquet")["k"]
    for module in (attention, conflict, efficiency, motion, outcome, pedestrian_distance, personal_zones, wall_distance):
        for metric in vars(module).values():
            if isinstance(metric, Metric):
                assert metric(there) == metric(here), metric.name


def test_equal_recordings_give_equal_bytes_whatever_absent_pedestrians_hold_and_planning_took(tmp_path):
    here = variety()
    recording_shards.write_recordings(tmp_path / "x.parquet", here)
    d = here["d"]
    junk = np.where(d.pedestrian_present[:, :, None], d.pedestrian_position, 77.0)
    changed = dataclasses.replace(d, pedestrian_position=junk, planning_time=np.array([0.5]))
    recording_shards.write_recordings(tmp_path / "y.parquet", {**here, "d": changed})
    assert (tmp_path / "x.parquet").read_bytes() == (tmp_path / "y.parquet").read_bytes()


def test_maps_are_kept_by_name_and_attached_when_given(tmp_path):
    path, wall = tmp_path / "x.parquet", Wall((1, 2), 0.3)
    recording_shards.write_recordings(path, variety())
    back = recording_shards.read_recordings(path, {"wall": wall})
    assert [recording.map for recording in back.values()] == [None, None, wall, None]
    with pytest.raises(UnknownNameError, match="did you mean 'wal'"):
        recording_shards.read_recordings(path, {"wal": wall})


def test_a_recording_of_a_minute_with_thirty_pedestrians_takes_about_200_kb(tmp_path):
    path = tmp_path / "x.parquet"
    recording_shards.write_recordings(path, {"k": rounded(crowded())})
    assert 150_000 < path.stat().st_size < 230_000


def test_whoever_reshapes_a_column_as_the_page_says_has_the_array(tmp_path):
    here = crowded(np.arange(7) * 0.1, 4)
    recording_shards.write_recordings(tmp_path / "x.parquet", {"k": here})
    row = pq.read_table(tmp_path / "x.parquet").to_pylist()[0]
    pose = np.reshape(row["pose"], (len(row["time"]), 3))
    assert np.array_equal(pose, here.pose.astype(np.float32))
    shown, present = np.reshape(row["pedestrian_velocity"], (7, 4, 2)), np.reshape(row["pedestrian_present"], (7, 4))
    assert np.array_equal(present, here.pedestrian_present) and 0 < present.sum() < present.size
    assert np.array_equal(shown[present], here.pedestrian_velocity.astype(np.float32)[present])
    assert pq.ParquetFile(tmp_path / "x.parquet").metadata.metadata[b"version"] == b"2"


def of_version_1(table):
    """A shard's table as Agora wrote it before its files said their version: the first axis innermost."""
    for name, one in declared_arrays(Recording).items():
        if name in table.column_names and len(one.names) > 1:
            lists = []
            for row in table.to_pylist():
                lengths = {"T": len(row["time"]), "P": len(row["pedestrian_id"])}
                lists.append(None if row[name] is None else np.reshape(row[name], one.shape(lengths)).T.ravel().tolist())
            place = table.column_names.index(name)
            table = table.set_column(place, name, pa.array(lists, table.schema.field(name).type))
    return table


def test_files_of_version_1_are_read_right_and_those_of_a_later_version_are_refused(tmp_path):
    items = {**variety(), "s": lively()}
    recording_shards.write_recordings(tmp_path / "new.parquet", items)
    table = shard.read(tmp_path / "new.parquet")
    shard.write(tmp_path / "old.parquet", shard.encode(of_version_1(table)))
    shard.write(tmp_path / "same.parquet", shard.encode(table))
    new, old = (recording_shards.read_recordings(tmp_path / f"{name}.parquet") for name in ("new", "old"))
    for key in items:
        for name in ("pose", "pedestrian_velocity", "pedestrian_present", "pedestrian_state"):
            assert np.array_equal(getattr(new[key], name), getattr(old[key], name)), name
    assert not np.array_equal(recording_shards.read_recordings(tmp_path / "same.parquet")["a"].pose, new["a"].pose)
    shard.write(tmp_path / "later.parquet", shard.encode(table, version=3))
    with pytest.raises(ResultsError, match="later.parquet: its recordings have format version 3; this version of Agora reads"):
        recording_shards.read_recordings(tmp_path / "later.parquet")


def test_the_recordings_that_come_with_the_leaderboard_are_of_robots_that_drive_as_they_say():
    """They are of version 1: a pose read along the wrong axis jumps."""
    for path in sorted(own_entries().glob("*/*/replays.parquet")):
        for key, there in recording_shards.read_recordings(path).items():
            step = np.hypot(*np.diff(there.pose[:, :2], axis=0).T) / np.diff(there.time)
            assert step.max() < 1.1 * there.max_speed, key


def test_a_damaged_shard_of_recordings_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "x.parquet"
    recording_shards.write_recordings(path, variety())
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(ResultsError, match="x.parquet: truncated or changed"):
        recording_shards.read_recordings(path)


def test_no_recordings_are_a_shard_too(tmp_path):
    recording_shards.write_recordings(tmp_path / "x.parquet", {})
    assert recording_shards.read_recordings(tmp_path / "x.parquet") == {}


def test_importing_the_store_and_the_metrics_does_not_import_pyarrow():
    import subprocess
    import sys

    modules = "agora.benchmark.results.store, agora.reporting.statistics, agora.metrics.motion"
    code = f"import sys, {modules}; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
