"""Converts recordings to MCAP messages: one message with the constants of an episode, and one sample per robot and control step.

The messages have the fields of `agora.core.recording.Recording`, without the time axis. Numbers are JSON doubles, so every float is
restored exactly. JSON cannot represent infinite numbers, so arrays contain the string ``Infinity`` instead, and an infinite
``shortest_path`` is omitted. The map is an attachment (`agora.maps.exact`). Values of absent pedestrians are discarded.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from agora.config import dump, parse
from agora.core.declared import Axes, declared_arrays
from agora.core.recording import Closing, Contact, ContactKind, Outcome, Recording, number_type
from agora.core.state import Array, RobotTraits
from agora.datasets.mcapfile import McapChannel, McapFile, McapMessage
from agora.datasets.played import PlayedEpisode, PlayedRobot
from agora.draft.stage import Stage
from agora.errors import InputError, reading
from agora.maps.exact import decode_exact, encode_exact

__all__ = ["read_recording"]

EPISODE, MAP = "/agora/episode", "map.npz"
_TOPICS = re.compile(rf"{EPISODE}|/agora/robot_(\d+)/sample")
_ARRAYS = declared_arrays(Recording)
_SAMPLED = {name: one for name, one in _ARRAYS.items() if one.names[0] in ("T", "T-1")}
_FIXED = {name: one for name, one in _ARRAYS.items() if name not in _SAMPLED}
_MAYBE = ("reference_path", "shortest_turn")  # numbers that may be missing from a recording
_SCALARS = ("failure", "clipped", "goal_tolerance", "radius", "max_speed", "timeout", "command_delay")
_WHOLE = ("kinematics", "vertices")
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}
_SAID = {"suite": "string", "stage": "string", "episode": "integer", "seed": "integer", "interrupted": "string"}
_CONDITIONS, _READINGS = "conditions", "readings"


def _schema(title: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"title": title, "type": "object", "properties": properties, "required": required}


def _type(one: Axes, axes: int) -> dict[str, Any]:
    """Return the JSON schema of an array with a given number of axes."""
    word = {"b": "boolean", "i": "integer", "f": "number"}[np.dtype(one.kind).kind]
    schema: dict[str, Any] = {"type": word}
    for _ in range(axes):
        schema = {"type": "array", "items": schema}
    return schema


def _sample_schema() -> dict[str, Any]:
    properties = {name: _type(one, len(one.names) - 1) for name, one in _SAMPLED.items()} | {"sensors": {"type": "object"}}
    return _schema("agora.Sample", properties, [name for name, one in _SAMPLED.items() if not one.optional and one.names[0] == "T"])


def _episode_schema() -> dict[str, Any]:
    said: dict[str, Any] = {name: {"type": word} for name, word in _SAID.items()} | {_CONDITIONS: {"type": "string"}}
    robots = {"type": "array", "items": _robot_schema()}
    return _schema("agora.Episode", said | {"robots": robots}, [*_SAID, "robots"])


def _robot_schema() -> dict[str, Any]:
    """Return the JSON schema of the message that is written once per robot."""
    number, text, whole = {"type": "number"}, {"type": "string"}, {"type": "integer"}
    closing = _schema(
        "agora.Closing", {"robot": number, "party": number, "standing": {"type": "boolean"}}, ["robot", "party", "standing"]
    )
    contact = {"time": number, "kind": whole, "party": whole, "x": number, "y": number}
    known: dict[str, Any] = {name: number for name in _SCALARS}
    known |= {name: text for name in ("failure", "planner", "model")} | {name: whole for name in ("clipped", "outcome", "samples")}
    known |= {"missing": {"type": "array", "items": text}}
    known |= {"contacts": {"type": "array", "items": _schema("agora.Contact", contact | {"closing": closing}, list(contact))}}
    known |= {name: _type(one, len(one.names)) for name, one in _FIXED.items()}
    others: dict[str, Any] = {"shortest_path": number, "robot": {"type": "object"}, _READINGS: {"type": "object"}}
    others |= {name: number for name in _MAYBE}
    maybe = [name for name, one in _FIXED.items() if one.optional]
    return _schema("agora.Robot", known | others, [name for name in known if name not in maybe])


def entries_of(played: PlayedEpisode) -> Iterator[McapMessage]:
    """Yield the messages of an episode; the messages of each robot are ordered by time.

    Raises:
        InputError: a scalar value is non-finite.
    """
    said = {name: getattr(played, name) for name in _SAID} | {"robots": [_robot(robot) for robot in played.robots]}
    if played.conditions is not None:
        said[_CONDITIONS] = dump(played.conditions.conditions())
    try:
        yield McapMessage.json(McapChannel.json(EPISODE, _episode_schema()), 0, said)
        for number, robot in enumerate(played.robots):
            channel = McapChannel.json(f"/agora/robot_{number}/sample", _sample_schema())
            for t, time in enumerate(robot.recording.time):
                yield McapMessage.json(channel, round(float(time) * 1e9), _sample(robot.recording, t))
    except ValueError as error:
        raise InputError(f"{played.source}: episode {played.entry} contains a number that is not finite: {error}") from error


def map_of(played: PlayedEpisode) -> dict[str, tuple[str, bytes]]:
    """Return the map of an episode as an attachment; empty if the episode has no map."""
    known = next((robot.recording.map for robot in played.robots if robot.recording.map is not None), None)
    return {} if known is None else {MAP: ("application/x-npz", encode_exact(known))}


def _robot(robot: PlayedRobot) -> dict[str, Any]:
    """Return the message that is written once per robot."""
    recording = robot.recording
    said = {"planner": robot.planner, "model": robot.model, "missing": sorted(robot.missing), "samples": len(recording.time)}
    said |= {name: getattr(recording, name) for name in _SCALARS} | {"outcome": int(recording.outcome)}
    said |= {"contacts": [_contact(contact) for contact in recording.contacts]}
    said |= {name: _plain(values) for name in _FIXED if (values := getattr(recording, name)) is not None}
    said |= {"shortest_path": recording.shortest_path} if math.isfinite(recording.shortest_path) else {}
    said |= {name: getattr(recording, name) for name in _MAYBE if getattr(recording, name) is not None}
    if recording.sensors:
        said[_READINGS] = {c: {name: array.dtype.name for name, array in r.items()} for c, r in recording.sensors.items()}
    if recording.robot is not None:
        said["robot"] = {name: _plain(values) for name, values in recording.robot._asdict().items()}
    return said


def _contact(contact: Contact) -> dict[str, Any]:
    said = contact._asdict() | {"kind": int(contact.kind)}
    closing = said.pop("closing")
    return said if closing is None else said | {"closing": closing._asdict()}


def _sample(recording: Recording, t: int) -> dict[str, Any]:
    """Return the message with a robot's state at one control step."""
    said = {}
    for name, one in _SAMPLED.items():
        values = getattr(recording, name)
        if values is not None and t < len(values):
            value = values[t]
            if one.masked:
                present = recording.pedestrian_present[t]
                value = np.where(present.reshape(present.shape + (1,) * (value.ndim - 1)), value, np.zeros((), value.dtype))
            said[name] = _plain(np.asarray(value))
    sensors = {
        channel: {name: _plain(values[t]) for name, values in reading.items() if t < len(values)}
        for channel, reading in recording.sensors.items()
    }
    return said | ({"sensors": sensors} if sensors else {})


def _plain(values: Array) -> Any:
    """Return an array as nested lists, in which non-finite numbers are strings."""
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return values.tolist()
    return _in_words(values.tolist())


def _in_words(value: Any) -> Any:
    if isinstance(value, list):
        return [_in_words(one) for one in value]
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def read_recording(file: McapFile) -> PlayedEpisode | None:
    """Return the episode in a file written from `entries_of`; None if the file does not contain such an episode.

    Raises:
        InputError: the file cannot be read, or a part of the episode is missing; the message names the part.
    """
    said: dict[str, Any] | None = None
    samples: dict[int, list[dict[str, Any]]] = {}
    for channel, _, content in sorted(file.contents(_TOPICS), key=lambda one: one[1]):
        found = _TOPICS.fullmatch(channel.topic)
        if found is not None and found[1] is not None:
            samples.setdefault(int(found[1]), []).append(content)
        else:
            said = content
    if said is None:
        if samples:
            raise InputError(f"{file.path}: contains robot samples but no {EPISODE}")
        return None
    with reading(file.path, "an episode in an MCAP file"):
        _check(file, EPISODE, said, _episode_schema())
        robots = tuple(_played(file, n, one, samples.get(n, [])) for n, one in enumerate(said["robots"]))
        if not robots:
            raise InputError(f"{file.path}: its {EPISODE} has no robots")
        told = said.get(_CONDITIONS)
        stage = parse(told, Stage, f"{file.path}: conditions") if told is not None else None
        return PlayedEpisode(file.path, **{name: said[name] for name in _SAID}, robots=robots, conditions=stage)


def _check(file: McapFile, where: str, said: dict[str, Any], schema: dict[str, Any]) -> None:
    """Check that a message has the fields of its schema, and that they have the right types.

    Raises:
        InputError: a field is missing, or has the wrong type.
    """
    missing = [name for name in schema["required"] if name not in said]
    if missing:
        raise InputError(f"{file.path}: {where} lacks {', '.join(missing)}")
    for name, one in schema["properties"].items():
        if name in said and type(said[name]) not in _KINDS[one["type"]]:
            raise InputError(f"{file.path}: {where}: {name}: expected a JSON {one['type']}, got {str(said[name])[:40]!r}")


def _played(file: McapFile, number: int, said: dict[str, Any], samples: list[dict[str, Any]]) -> PlayedRobot:
    """Return one robot, created from its first message and its samples."""
    where = f"robot {number} of {EPISODE}"
    _check(file, where, said, _robot_schema())
    if len(samples) != said["samples"] or not samples:
        raise InputError(f"{file.path}: contains only {len(samples)} of {said['samples']} samples of robot {number}")
    lengths = {"T": len(samples), "P": len(said["pedestrian_id"]), "C": len(said["planning_time"])}
    lengths["K"] = len(said.get("planned_path", ()))
    others: dict[str, Any] = {name: said.get(name) for name in _MAYBE}
    fixed = {name: one for name, one in _FIXED.items() if name in said}
    arrays: dict[str, Any] = {name: np.array(said[name], one.kind).reshape(one.shape(lengths)) for name, one in fixed.items()}
    for name, one in _SAMPLED.items():
        due = samples[: one.shape(lengths)[0]]
        if due and (not one.optional or name in due[0]):
            _all_have(file, number, due, name)
        if not one.optional or (due and name in due[0]):
            arrays[name] = np.array([sample[name] for sample in due], one.kind).reshape(one.shape(lengths))
    if (np.diff(arrays["time"]) < 0.0).any():
        raise InputError(f"{file.path}: the times of robot {number} decrease")
    recording = Recording(
        **arrays,
        **{name: said[name] for name in _SCALARS},
        outcome=Outcome(said["outcome"]),
        shortest_path=said.get("shortest_path", math.inf),
        **others,
        contacts=tuple(_touched(one) for one in said["contacts"]),
        map=decode_exact(io.BytesIO(file.attachments[MAP]), f"{file.path}: {MAP}") if MAP in file.attachments else None,
        robot=_traits(said["robot"]) if "robot" in said else None,
        sensors=_sensors(samples, said.get(_READINGS, {})),
    )
    return PlayedRobot(said["planner"], said["model"], recording, frozenset(said["missing"]))


def _all_have(file: McapFile, number: int, samples: list[dict[str, Any]], name: str) -> None:
    if not all(name in sample for sample in samples):
        raise InputError(f"{file.path}: a sample of robot {number} lacks {name}")


def _touched(said: dict[str, Any]) -> Contact:
    closing = None
    if "closing" in said:
        robot, party, standing = (said["closing"][name] for name in Closing._fields)
        closing = Closing(float(robot), float(party), bool(standing))
    kind, party_id = ContactKind(said["kind"]), int(said["party"])
    return Contact(float(said["time"]), kind, party_id, float(said["x"]), float(said["y"]), closing)


def _traits(said: dict[str, Any]) -> RobotTraits:
    arrays: dict[str, Any] = {
        name: np.array(said[name], np.int32 if name in _WHOLE else np.float32) for name in RobotTraits._fields
    }
    return RobotTraits(**arrays)


def _sensors(samples: list[dict[str, Any]], kinds: dict[str, dict[str, str]]) -> dict[str, dict[str, Array]]:
    """Return the sensor readings at each call of the planner, by channel and field; they are float32 if the file does not state a
    type.
    """
    first = samples[0].get("sensors", {})
    return {
        channel: {
            name: np.array(
                [s["sensors"][channel][name] for s in samples if name in s["sensors"][channel]],
                number_type(kinds.get(channel, {}).get(name, "float32")),
            )
            for name in reading
        }
        for channel, reading in first.items()
    }
