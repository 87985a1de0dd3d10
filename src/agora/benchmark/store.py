"""Results on disk: rows and recordings in Parquet shards.

A killed run leaves whole shards only (`agora.benchmark.shard`); one that was cut or has rotted is named in the log, and its
episodes count as not done. Equal contents give equal bytes, with one version of pyarrow: columns, types, order and compression are
fixed.

Rows: one for an episode and robot. The columns `IDENTITY` come first and are never empty. The others follow by name: texts,
booleans, and numbers as float64, None where undefined; in the timing also `CALLS`, a list of numbers.

Recordings: arrays at single precision, which loses nothing of the engine's own, so metrics computed from a shard are those of the
row; time stamps and contacts at double precision; the map by its name. Planning times are not kept: they belong to the timing,
outside the byte-identity promise. Tracks are component by component, slot by slot, with time innermost. Measured for a minute at
10 Hz: 14 kB without pedestrians, and 14 bytes more for every sample of a pedestrian who is present (150 kB for 30 who are there
half of the time).
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from agora.benchmark import shard
from agora.core.recording import Closing, Contact, ContactKind, Outcome, Recording
from agora.core.state import RobotTraits
from agora.errors import InputError, ResultsError, UnknownNameError
from agora.interfaces import NOTES

if TYPE_CHECKING:
    import pyarrow

    from agora.maps.grid import Map

IDENTITY = ("key", "suite", "stage", "episode", "seed", "planner", "robot")
"""Columns that say which episode and robot a row is of."""

PARTS = ("episodes", "timing", "trajectories")
"""Folders of a run; a shard's file in the first is written last."""

CALLS = "calls"
"""Column of the timing: wall time of each control call, s, single precision."""

Keep = Literal["all", "failed", "none"]
"""Whose recordings a run keeps."""

_KEY = ("suite", "stage", "episode", "planner", "robot")
_SCALARS = ("goal_tolerance", "radius", "max_speed", "timeout", "shortest_path")
_OFFSET, _REFERENCE = "map_offset", "reference_path"
_TRACKS = ("pose", "twist", "pedestrian_position", "pedestrian_velocity", "pedestrian_heading")
_OPTIONAL = {"pedestrian_state": np.int8, "door": np.float32, **NOTES}
_WHOLE, _OUTLINE = ("kinematics", "vertices"), ("footprint_x", "footprint_y")
_LOG = logging.getLogger(__name__)


def episode_key(row: Mapping[str, Any]) -> str:
    """Return the key of an episode and robot: ``suite/stage/episode/planner/robot``.

    Raises:
        InputError: a part is missing, empty or holds a slash.
    """
    parts = []
    for column in _KEY:
        part = str(row.get(column, ""))
        if not part or "/" in part:
            raise InputError(f"{column} {part!r} of a row; expected a name or number without '/'")
        parts.append(part)
    return "/".join(parts)


class Shard(NamedTuple):
    """A shard as it was read.

    Attributes:
        path: of it. rows: all, or some columns of them; none where there is a problem. problem: what is wrong with it, in words.
        run: that it is of; empty where it does not say.
    """

    path: Path
    rows: list[dict[str, Any]]
    problem: str = ""
    run: str = ""


def encode_rows(rows: Sequence[Mapping[str, Any]], run: str = "", where: str = "a shard") -> bytes:
    """Return the bytes of a shard of rows, with their `episode_key` as ``key``.

    Args:
        rows: at least one, each with the columns of `IDENTITY` but the key; values are texts, booleans, numbers, arrays (K,) of
            numbers, or None.
        run: that they are of; empty for none. where: names the shard in messages.

    Raises:
        InputError: an identity is missing, a key comes twice, or a column holds values of different kinds.
    """
    import pyarrow as pa

    if not rows:
        raise InputError(f"{where}: no rows to write")
    keyed = [{**row, "key": episode_key(row)} for row in rows]
    _unique([row["key"] for row in keyed], where)
    others = sorted({column for row in keyed for column in row} - set(IDENTITY))
    arrays = [_identity(where, column, [row.get(column) for row in keyed]) for column in IDENTITY]
    arrays += [_values(where, column, [row.get(column) for row in keyed]) for column in others]
    return shard.encode(pa.table(arrays, names=[*IDENTITY, *others]), run=run)


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]], run: str = "") -> None:
    """Write rows to one shard, ``<something>.parquet``, as `encode_rows` makes them; its folder is made.

    Raises:
        InputError: as `encode_rows`. ResultsError: the shard cannot be written.
    """
    shard.write(path, encode_rows(rows, run, str(path)))


def keep(folder: Path, name: str, files: Mapping[str, bytes]) -> None:
    """Write a shard of a run, its rows last, so that it is there whole or not at all.

    Args:
        folder: of the run. name: of the shard. files: bytes of its files, by their part (`PARTS`).

    Raises:
        ResultsError: it cannot be written.
    """
    for part in reversed(PARTS):
        if part in files:
            shard.write(folder / part / f"{name}.parquet", files[part])


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of all whole shards of a folder in the order of their names, or of one shard; [] where there is none.

    Damaged shards are named in the log and left out (`damaged`).

    Raises:
        ResultsError: two shards hold the same key.
    """
    rows: list[dict[str, Any]] = []
    for read in shards(folder):
        if read.problem:
            _LOG.warning("%s: %s; what it held counts as not done", read.path, read.problem)
        rows.extend(read.rows)
    check_unique(rows, folder)
    return rows


def check_unique(rows: Iterable[Mapping[str, Any]], folder: Path) -> None:
    """Make sure that no key is in the rows of a folder twice.

    Raises:
        ResultsError: one is.
    """
    _unique([row["key"] for row in rows], folder, ResultsError)


def shards(folder: Path, columns: Sequence[str] | None = None) -> Iterator[Shard]:
    """Yield the shards of a folder in the order of their names.

    Args:
        folder: of one part of a run, or the path of one shard. columns: to read; all where None.
    """
    for path in _paths(folder):
        read = shard.read(path, columns)
        yield Shard(path, [], read) if isinstance(read, str) else Shard(path, read.to_pylist(), "", shard.run_of(read))


def keys(folder: Path) -> set[str]:
    """Return the keys in all whole shards of a folder, of rows or of recordings."""
    return {row["key"] for read in shards(folder, ["key"]) for row in read.rows}


def finished(folder: Path) -> set[str]:
    """Return the keys of all rows that need not be run again."""
    return {row["key"] for row in read_rows(folder)}


def is_kept(row: Mapping[str, Any], keep: Keep) -> bool:
    """Whether a run keeps the recording of a row."""
    return keep == "all" or (keep == "failed" and row["outcome"] != "reached")


def lost(folder: Path, name: str, keep: Keep) -> list[str]:
    """Return the parts of a run, timing and trajectories, that lack something of the rows of a shard.

    Args:
        folder: of the run. name: of a shard whose rows are whole. keep: whose recordings should be there.
    """
    rows = [row for read in shards(folder / PARTS[0] / f"{name}.parquet", ["key", "outcome"]) for row in read.rows]
    wanted = {"timing": {row["key"] for row in rows}, "trajectories": {row["key"] for row in rows if is_kept(row, keep)}}
    return [part for part, some in wanted.items() if not some <= keys(folder / part / f"{name}.parquet")]


def remove(folder: Path, name: str) -> None:
    """Delete all that was written of a shard, its rows last."""
    for part in reversed(PARTS):
        (folder / part / f"{name}.parquet").unlink(missing_ok=True)


def complete(folder: Path, name: str) -> bool:
    """Whether a run's shard holds rows; what else was written of one that does not is deleted, so that nothing is there twice.

    Args:
        folder: of the run. name: of the shard.
    """
    rows = folder / PARTS[0] / f"{name}.parquet"
    if rows.exists() and not isinstance(shard.read(rows, ["key"]), str):
        return True
    remove(folder, name)
    return False


def damaged(folder: Path) -> dict[Path, str]:
    """Return what is wrong with each shard of a folder that cannot be read whole."""
    return {read.path: read.problem for read in shards(folder, ["key"]) if read.problem}


def write_recordings(path: Path, items: Mapping[str, Recording], run: str = "") -> None:
    """Write recordings by key to one shard, of a run, as `encode_recordings` and `agora.benchmark.shard.write` do."""
    shard.write(path, encode_recordings(items, run))


def encode_recordings(items: Mapping[str, Recording], run: str = "") -> bytes:
    """Return the bytes of a shard of recordings by key, of a run. What absent pedestrians' values are is not kept."""
    import pyarrow as pa

    optional = [*_OPTIONAL, _REFERENCE, "robot"]
    given = {name for name in optional if any(getattr(recording, name) is not None for recording in items.values())}
    given |= {_OFFSET} if any(_offset(recording) for recording in items.values()) else set()
    schema = _recording_schema(given)
    table = pa.Table.from_pylist([_pack(key, recording) for key, recording in items.items()], schema=schema)
    return shard.encode(table, [f"{name}.list.element" for name in _TRACKS], run)


def read_recordings(path: Path, maps: Mapping[str, Map] | None = None) -> dict[str, Recording]:
    """Return the recordings of a shard by key.

    Args:
        path: of the shard.
        maps: by name, to attach; without it recordings have none.

    Raises:
        ResultsError: the shard cannot be read whole.
        UnknownNameError: ``maps`` lacks one.
    """
    table = shard.read(path)
    if isinstance(table, str):
        raise ResultsError(f"{path}: {table}")
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    return {columns["key"][row].as_py(): _unpack(columns, row, maps) for row in range(table.num_rows)}


def _recording_schema(given: Collection[str]) -> pyarrow.Schema:
    """The columns of recordings; what only some have is there only where ``given`` names it."""
    import pyarrow as pa

    single, double, whole = pa.list_(pa.float32()), pa.float64(), pa.int32()
    closing = pa.struct([("robot", double), ("party", double), ("standing", pa.bool_())])
    contact = pa.struct([("time", double), ("kind", whole), ("party", whole), ("x", double), ("y", double), ("closing", closing)])
    traits = [(name, whole if name in _WHOLE else single if name in _OUTLINE else pa.float32()) for name in RobotTraits._fields]
    return pa.schema(
        [
            ("key", pa.string()),
            ("outcome", whole),
            ("failure", pa.string()),
            ("clipped", pa.int64()),
            ("map_name", pa.string()),
            *((name, double) for name in _SCALARS),
            ("goal", pa.list_(double)),
            ("contacts", pa.list_(contact)),
            ("time", pa.list_(double)),
            *((name, single) for name in _TRACKS),
            ("pedestrian_present", pa.list_(pa.bool_())),
            ("pedestrian_radius", single),
            ("pedestrian_id", pa.list_(whole)),
            ("pedestrian_group", pa.list_(whole)),
            *(
                (name, pa.list_(pa.int8() if kind is np.int8 else pa.float32()))
                for name, kind in _OPTIONAL.items()
                if name in given
            ),
            *([(_OFFSET, pa.list_(double))] if _OFFSET in given else []),
            *([(_REFERENCE, double)] if _REFERENCE in given else []),
            *([("robot", pa.struct([*traits, ("command_delay", double)]))] if "robot" in given else []),
        ]
    )


def _pack(key: str, recording: Recording) -> dict[str, Any]:
    """A recording as a row; tracks lie with time innermost, where neighbours are alike."""
    present, states = recording.pedestrian_present, recording.pedestrian_state

    def seen(values: Any) -> Any:
        return np.where(present.reshape(present.shape + (1,) * (values.ndim - 2)), values, 0.0)

    return {
        "key": key,
        "outcome": int(recording.outcome),
        "failure": recording.failure,
        "clipped": recording.clipped,
        "map_name": "" if recording.map is None else recording.map.name,
        **{name: getattr(recording, name) for name in _SCALARS},
        "goal": recording.goal,
        "contacts": [_pack_contact(contact) for contact in recording.contacts],
        "time": recording.time,
        "pose": recording.pose.T.astype(np.float32).ravel(),
        "twist": recording.twist.T.astype(np.float32).ravel(),
        "pedestrian_position": seen(recording.pedestrian_position).T.astype(np.float32).ravel(),
        "pedestrian_velocity": seen(recording.pedestrian_velocity).T.astype(np.float32).ravel(),
        "pedestrian_heading": seen(recording.pedestrian_heading).T.astype(np.float32).ravel(),
        "pedestrian_present": present.T.ravel(),
        "pedestrian_radius": recording.pedestrian_radius.astype(np.float32),
        "pedestrian_id": recording.pedestrian_id,
        "pedestrian_group": recording.pedestrian_group.T.ravel(),
        "pedestrian_state": None if states is None else np.where(present, states, 0).T.astype(np.int8).ravel(),
        "door": None if recording.door is None else recording.door.astype(np.float32),
        **{name: None if (noted := getattr(recording, name)) is None else noted.astype(kind) for name, kind in NOTES.items()},
        _OFFSET: _offset(recording),
        _REFERENCE: recording.reference_path,
        "robot": None if recording.robot is None else _pack_robot(recording.robot, recording.command_delay),
    }


def _offset(recording: Recording) -> list[float] | None:
    """Where the map frame's zero lies in the frame of the map's file, m; None where they are the same."""
    return list(recording.map.offset) if recording.map is not None and any(recording.map.offset) else None


def _pack_contact(contact: Contact) -> dict[str, Any]:
    closing = None if contact.closing is None else contact.closing._asdict()
    return {**contact._asdict(), "kind": int(contact.kind), "closing": closing}


def _unpack_contact(fields: dict[str, Any]) -> Contact:
    """A contact event; those of older files do not say who closed the gap."""
    closing = fields.get("closing")
    known = {"kind": ContactKind(fields["kind"]), "closing": None if closing is None else Closing(**closing)}
    return Contact(**{**fields, **known})


def _pack_robot(robot: RobotTraits, command_delay: float) -> dict[str, Any]:
    """How a robot can move and its outline: numbers by name, and the coordinates of its corners."""
    fields = {name: value[0, 0].tolist() for name, value in robot._asdict().items()}
    return {**fields, "command_delay": command_delay}


def _unpack_robot(fields: dict[str, Any]) -> dict[str, Any]:
    """What `_pack_robot` packed, as fields of a recording."""
    delay = fields.pop("command_delay")
    arrays: dict[str, Any] = {
        name: np.array([[value]], np.int32 if name in _WHOLE else np.float32) for name, value in fields.items()
    }
    return {"robot": RobotTraits(**arrays), "command_delay": delay}


def _unpack(columns: Mapping[str, pyarrow.Array], row: int, maps: Mapping[str, Map] | None) -> Recording:
    """The recording of a row."""

    def array(name: str, kind: type, *shape: int) -> Any:
        values = columns[name][row].values.to_numpy(zero_copy_only=False)
        return np.ascontiguousarray(values.reshape(shape).T, kind)

    name = columns["map_name"][row].as_py()
    if maps is not None and name and name not in maps:
        raise UnknownNameError("map", name, maps)
    samples, slots = len(columns["time"][row]), len(columns["pedestrian_id"][row])
    given = {name for name in _OPTIONAL if name in columns and columns[name][row].is_valid}
    return Recording(
        time=array("time", np.float64, samples),
        pose=array("pose", np.float64, 3, samples),
        twist=array("twist", np.float64, 3, samples),
        goal=array("goal", np.float64, 3),
        pedestrian_position=array("pedestrian_position", np.float64, 2, slots, samples),
        pedestrian_velocity=array("pedestrian_velocity", np.float64, 2, slots, samples),
        pedestrian_heading=array("pedestrian_heading", np.float64, slots, samples),
        pedestrian_present=array("pedestrian_present", np.bool_, slots, samples),
        pedestrian_radius=array("pedestrian_radius", np.float64, slots),
        pedestrian_id=array("pedestrian_id", np.int32, slots),
        pedestrian_group=array("pedestrian_group", np.int32, slots, samples),
        pedestrian_state=array("pedestrian_state", np.int32, slots, samples) if "pedestrian_state" in given else None,
        reason=array("reason", np.int32, samples - 1) if "reason" in given else None,
        speed_limit=array("speed_limit", np.float64, samples - 1) if "speed_limit" in given else None,
        danger=array("danger", np.float64, samples - 1) if "danger" in given else None,
        door=array("door", np.float64, samples) if "door" in given else None,
        contacts=tuple(_unpack_contact(fields) for fields in columns["contacts"][row].as_py()),
        outcome=Outcome(columns["outcome"][row].as_py()),
        map=maps[name] if maps is not None and name else None,
        clipped=columns["clipped"][row].as_py(),
        failure=columns["failure"][row].as_py(),
        **{scalar: columns[scalar][row].as_py() for scalar in _SCALARS},
        reference_path=columns[_REFERENCE][row].as_py() if _REFERENCE in columns else None,
        **(_unpack_robot(columns["robot"][row].as_py()) if "robot" in columns and columns["robot"][row].is_valid else {}),
    )


def _unique(keys: Iterable[str], where: Path | str, error: type[Exception] = InputError) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise error(f"{where}: two rows of {key!r}")
        seen.add(key)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _identity(where: str, column: str, values: list[Any]) -> pyarrow.Array:
    """A column without gaps, of whole numbers or of texts."""
    import pyarrow as pa

    plain = [_plain(value) for value in values]
    whole = all(type(value) is int for value in plain)
    if not whole and not all(isinstance(value, str) for value in plain):
        raise InputError(f"{where}: column {column!r} holds {_strange(plain)}; expected a text or a whole number in every row")
    try:
        return pa.array(plain, pa.int64() if whole else pa.string())
    except OverflowError as error:
        raise InputError(f"{where}: column {column!r}: {error}") from error


def _values(where: str, column: str, values: list[Any]) -> pyarrow.Array:
    """A column of texts, booleans, numbers as float64 or lists of float32; None where undefined, numbers if nothing is given."""
    import pyarrow as pa

    if values and all(isinstance(value, np.ndarray) for value in values):
        return pa.array(values, pa.list_(pa.float32()))
    plain = [_plain(value) for value in values]
    given = [value for value in plain if value is not None]
    if given and all(isinstance(value, str) for value in given):
        return pa.array(plain, pa.string())
    if given and all(isinstance(value, bool) for value in given):
        return pa.array(plain, pa.bool_())
    if all(isinstance(value, int | float) and not isinstance(value, bool) and value == value for value in given):
        return pa.array([None if value is None else float(value) for value in plain], pa.float64())
    raise InputError(f"{where}: column {column!r} holds {_strange(given)}; expected texts, booleans or numbers, or None")


def _strange(values: list[Any]) -> str:
    """The kinds of value in a column, for an error message."""
    return " and ".join(sorted({"NaN" if value != value else type(value).__name__ for value in values}))


def _paths(folder: Path) -> list[Path]:
    return [folder] if folder.is_file() else sorted(folder.glob("*.parquet"))
