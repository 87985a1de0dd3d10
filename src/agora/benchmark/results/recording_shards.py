"""Recordings on disk: Parquet shards with one row per recording, whose columns are the fields of `agora.core.recording.Recording`.

The columns follow from the fields. An array becomes a flat list of the field's type in which the array's last axis is innermost, so
``np.reshape(row["pose"], (-1, 3))`` is the array. The file contains the version of this layout. Files of version 1 do not contain a
version, and the first axis of their arrays is innermost. Tracks keep the engine's single precision, so metrics computed from a
shard equal the metrics in the row. Every shard has the same columns, so that any Parquet reader can read a folder as one table;
fields that a recording does not have are null. Channel readings keep their types: float32 readings are in ``values``; readings of
another type are in a list named after the type, such as ``uint8``, which exists if any recording has such readings. Maps are stored
by name. Planning times are stored in the timing shards instead, because they are not reproducible byte for byte.

The measured size of one minute at 10 Hz is 15 kB without pedestrians, plus 20 bytes per sample and pedestrian present (200 kB for
30 pedestrians who are present half of the time).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.benchmark.results import shard
from agora.core.declared import Axes, declared_arrays
from agora.core.recording import Closing, Contact, ContactKind, Outcome, Recording, number_type
from agora.core.state import Array, RobotTraits
from agora.errors import ResultsError, UnknownNameError, reading

if TYPE_CHECKING:
    import pyarrow

    from agora.maps.grid import Map

__all__ = ["read_recordings"]

_ARRAYS = {name: one for name, one in declared_arrays(Recording).items() if one.kept}
_SCALARS = ("clipped", "failure", "goal_tolerance", "radius", "max_speed", "timeout", "shortest_path")
_MAYBE = ("reference_path", "shortest_turn")  # numbers that may be missing from a recording
_OFFSET, _SENSORS = "map_offset", "sensors"
_VALUES, _SINGLE = "values", "float32"  # the list that contains the readings of this type
_SMOOTH = [f"{name}.list.element" for name, one in _ARRAYS.items() if one.stored is np.float32 and len(one.names) > 1]
_NAME = "outcome_name"
_UNITS = {
    "goal_tolerance": "m", "radius": "m", "max_speed": "m/s", "timeout": "s", "shortest_path": "m", "goal": "m, m, rad",
    "time": "s", "pose": "m, m, rad", "twist": "m/s, m/s, rad/s", "pedestrian_position": "m",
    "pedestrian_velocity": "m/s", "pedestrian_heading": "rad", "pedestrian_radius": "m", "undisturbed": "m",
    "command": "m/s, m/s, rad/s", "speed_limit": "top speeds", "reference_path": "m", "shortest_turn": "rad", "map_offset": "m",
    "planned_path": "s, m, m",
}  # fmt: skip
_WHOLE, _OUTLINE = ("kinematics", "vertices"), ("footprint_x", "footprint_y")

VERSION = 2
"""Version of the column layout; files of version 1 do not contain it."""


def write_recordings(path: Path, items: Mapping[str, Recording], run: str = "") -> None:
    """Write recordings by key to one shard of a run; see `encode_recordings` and `agora.benchmark.results.shard.write`."""
    shard.write(path, encode_recordings(items, run))


def encode_recordings(items: Mapping[str, Recording], run: str = "") -> bytes:
    """Return the bytes of a run's shard that contains recordings, given by key. Values of absent pedestrians are discarded."""
    import pyarrow as pa

    kinds = {kind for recording in items.values() for kind in _kinds(recording)}
    table = pa.Table.from_pylist([_pack(key, recording) for key, recording in items.items()], schema=_schema(kinds))
    shapes = {name: " ".join(map(str, one.names)) for name, one in _ARRAYS.items()}
    return shard.encode(table, _SMOOTH, run, VERSION, {"units": _UNITS, "shapes": shapes})


def read_recordings(path: Path, maps: Mapping[str, Map] | None = None) -> dict[str, Recording]:
    """Return the recordings in a shard, by key.

    Args:
        path: path of the shard.
        maps: maps to attach, by name; if None, recordings have no map.

    Raises:
        ResultsError: the shard cannot be read completely, or was written with a later version of the layout. InputError: the shard
            contains anything other than recordings.
        UnknownNameError: a map is missing from ``maps``.
    """
    table = shard.read(path)
    if isinstance(table, str):
        raise ResultsError(f"{path}: {table}")
    if (version := shard.version_of(table)) > VERSION:
        raise ResultsError(
            f"{path}: its recordings have format version {version}; this version of Agora reads versions 1 to {VERSION}"
        )
    with reading(path, "recordings"):
        columns = {name: table.column(name).combine_chunks() for name in table.column_names}
        _check_types(columns)
        return {str(columns["key"][row]): _unpack(columns, row, maps, version) for row in range(table.num_rows)}


def _check_types(columns: Mapping[str, pyarrow.Array]) -> None:
    """Make sure that numeric columns contain numbers and string columns contain strings, because the file may come from
    anywhere.
    """
    schema = _schema(())
    for name in ("key", "outcome", "map_name", *_SCALARS, *(name for name in _MAYBE if name in columns)):
        column, wanted = columns[name], schema.field(name).type
        if column.type != wanted or (column.null_count and name not in _MAYBE):
            raise ValueError(
                f"column {name!r} has type {column.type}{' and missing values' if column.null_count else ''}, expected {wanted}"
            )


def _schema(kinds: Collection[str]) -> pyarrow.Schema:
    """Return the columns of recordings, in the order of the fields, with one list per given type of channel readings."""
    import pyarrow as pa

    single, double, whole = pa.list_(pa.float32()), pa.float64(), pa.int32()
    closing = pa.struct([("robot", double), ("party", double), ("standing", pa.bool_())])
    contact = pa.struct([("time", double), ("kind", whole), ("party", whole), ("x", double), ("y", double), ("closing", closing)])
    traits = [(name, whole if name in _WHOLE else single if name in _OUTLINE else pa.float32()) for name in RobotTraits._fields]
    special = {"outcome": whole, "failure": pa.string(), "clipped": pa.int64(), "map": pa.string(), "contacts": pa.list_(contact)}
    columns = [("key", pa.string())]
    for field in dataclasses.fields(Recording):
        one = _ARRAYS.get(field.name)
        if field.name in _MAYBE:
            columns += [(_OFFSET, pa.list_(double))] if field.name == _MAYBE[0] else []
            columns.append((field.name, double))
        elif field.name == _SENSORS:
            reading = [("channel", pa.string()), ("field", pa.string()), ("shape", pa.list_(whole)), (_VALUES, single)]
            reading += [(kind, pa.list_(pa.from_numpy_dtype(kind))) for kind in sorted(kinds) if kind != _SINGLE]
            columns.append((_SENSORS, pa.list_(pa.struct(reading))))
        elif field.name == "robot":
            columns.append(("robot", pa.struct([*traits, ("command_delay", double)])))
        elif field.name in special:
            columns += [(_NAME, pa.string())] if field.name == "map" else []
            columns.append(("map_name" if field.name == "map" else field.name, special[field.name]))
        elif field.name in _SCALARS:
            columns.append((field.name, double))
        elif one is not None:
            columns.append((field.name, pa.list_(pa.from_numpy_dtype(one.stored))))
    return pa.schema(columns)


def _pack(key: str, recording: Recording) -> dict[str, Any]:
    """Return a recording as a row."""
    return {
        "key": key,
        "outcome": int(recording.outcome),
        _NAME: recording.outcome.label,
        "map_name": "" if recording.map is None else recording.map.name,
        **{name: getattr(recording, name) for name in (*_SCALARS, *_MAYBE)},
        **{name: _column_of(one, getattr(recording, name), recording) for name, one in _ARRAYS.items()},
        "contacts": [_pack_contact(contact) for contact in recording.contacts],
        _OFFSET: _offset(recording),
        _SENSORS: [
            {"channel": channel, "field": name, "shape": list(array.shape), _place_of(array): array.ravel()}
            for channel, reading in recording.sensors.items()
            for name, array in reading.items()
        ],
        "robot": None if recording.robot is None else _pack_robot(recording.robot, recording.command_delay),
    }


def _column_of(one: Axes, values: Any, recording: Recording) -> Any:
    """Return an array as the list that is stored in a column."""
    if values is None:
        return None
    if one.masked:
        present = recording.pedestrian_present
        values = np.where(present.reshape(present.shape + (1,) * (values.ndim - 2)), values, np.zeros((), values.dtype))
    return values.astype(one.stored).ravel()


def _offset(recording: Recording) -> list[float] | None:
    """Return the origin (x, y) of the map frame in the frame of the map's file, m; None if the two frames are the same."""
    return list(recording.map.offset) if recording.map is not None and any(recording.map.offset) else None


def _pack_contact(contact: Contact) -> dict[str, Any]:
    closing = None if contact.closing is None else contact.closing._asdict()
    return {**contact._asdict(), "kind": int(contact.kind), "closing": closing}


def _unpack_contact(fields: dict[str, Any]) -> Contact:
    """Return a contact event; older files do not contain which party closed the gap."""
    closing = fields.get("closing")
    known = {"kind": ContactKind(fields["kind"]), "closing": None if closing is None else Closing(**closing)}
    return Contact(**{**fields, **known})


def _pack_robot(robot: RobotTraits, command_delay: float) -> dict[str, Any]:
    """Return a robot's traits as numbers, by name, and the robot's outline as the coordinates of its corners."""
    fields = {name: value[0, 0].tolist() for name, value in robot._asdict().items()}
    return {**fields, "command_delay": command_delay}


def _unpack_robot(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the values written by `_pack_robot` as fields of a recording."""
    delay = fields.pop("command_delay")
    arrays: dict[str, Any] = {
        name: np.array([[value]], np.int32 if name in _WHOLE else np.float32) for name, value in fields.items()
    }
    return {"robot": RobotTraits(**arrays), "command_delay": delay}


def _kinds(recording: Recording) -> set[str]:
    """Return the names of the types of a recording's readings."""
    return {array.dtype.name for reading in recording.sensors.values() for array in reading.values()}


def _place_of(array: Array) -> str:
    """Return the name of the list in which the numbers of a reading are stored."""
    return _VALUES if array.dtype.name == _SINGLE else array.dtype.name


def _unpack_sensors(readings: list[dict[str, Any]]) -> dict[str, dict[str, Array]]:
    """Return readings by channel and field, each taken from the list that contains it."""
    found: dict[str, dict[str, Array]] = {}
    for one in readings:
        channel, name, shape = one.pop("channel"), one.pop("field"), one.pop("shape")
        place, values = next((place, values) for place, values in one.items() if values is not None)
        kind = number_type(_SINGLE if place == _VALUES else place)
        found.setdefault(channel, {})[name] = np.array(values, kind).reshape(shape)
    return found


def _unpack(columns: Mapping[str, pyarrow.Array], row: int, maps: Mapping[str, Map] | None, version: int) -> Recording:
    """Return the recording in a row of a file with the given layout version. Columns that are missing from older files are treated
    as empty.
    """
    name = columns["map_name"][row].as_py()
    if maps is not None and name and name not in maps:
        raise UnknownNameError("map", name, maps)
    lengths = {"T": len(columns["time"][row]), "P": len(columns["pedestrian_id"][row])}
    if "planned_path" in columns and columns["planned_path"][row].is_valid:
        lengths["K"] = len(columns["planned_path"][row]) // 3
    arrays: dict[str, Any] = {name: columns[name][row].as_py() for name in _MAYBE if name in columns}
    for field, one in _ARRAYS.items():
        if not one.optional or (field in columns and columns[field][row].is_valid):
            values = columns[field][row].values.to_numpy(zero_copy_only=False)
            shape = one.shape(lengths)
            arrays[field] = np.ascontiguousarray(values.reshape(shape) if version > 1 else values.reshape(shape[::-1]).T, one.kind)
    return Recording(
        **arrays,
        contacts=tuple(_unpack_contact(fields) for fields in columns["contacts"][row].as_py()),
        outcome=Outcome(columns["outcome"][row].as_py()),
        map=maps[name] if maps is not None and name else None,
        **{scalar: columns[scalar][row].as_py() for scalar in _SCALARS},
        sensors=_unpack_sensors(columns[_SENSORS][row].as_py()) if _SENSORS in columns else {},
        **(_unpack_robot(columns["robot"][row].as_py()) if "robot" in columns and columns["robot"][row].is_valid else {}),
    )
