"""Replays the recorded commands of episodes: the engine recomputes the results without calling the planners.

The same commands from the same start give the same episode, bit for bit. If a planner changed the world during the episode, or if a
row was edited, the commands give a different episode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.benchmark.job import Job, RunPlan, key_of, with_undisturbed_pedestrians
from agora.benchmark.results import recording_shards, shard, store
from agora.core.recording import Recording
from agora.core.state import Array, Floats
from agora.episode import Conditions, Episodes
from agora.errors import InputError, reading
from agora.interfaces import NOTES, Answer, Declaration, Memory, Observation
from agora.metrics.planning_time import TIMING
from agora.metrics.registered import metrics

if TYPE_CHECKING:
    import pyarrow

_KEY, _COMMAND, _PATHS = "key", "command", "paths"


@dataclass(frozen=True, eq=False)
class Drive:
    """Everything that one robot's planner contributed to an episode.

    Attributes:
        commands: (C, 3) twist at each call: vx, vy, omega in the robot's frame, m/s and rad/s, before limits and delay are applied.
            If the planner failed, there is no command for its last call.
        notes: (C,) notes of the planner at each call, by name (`agora.interfaces.NOTES`).
        paths: whether the robot was given global paths.
    """

    commands: Floats
    notes: Mapping[str, Array]
    paths: bool

    @staticmethod
    def of(recording: Recording) -> Drive:
        """Return the drive of a recording.

        Raises:
            InputError: the recording contains no commands, because it was not made by Agora's own benchmark.
        """
        if recording.command is None:
            raise InputError("the recording has no commands")
        notes = {name: getattr(recording, name) for name in NOTES if getattr(recording, name) is not None}
        typed = {name: note.astype(NOTES[name]) for name, note in notes.items()}
        return Drive(recording.command.astype(np.float32), typed, recording.planned_path is not None)

    def differs(self, other: Drive) -> str:
        """Return the name of the first field in which two drives are not bit-identical; empty if they are equal."""
        ours, theirs = ({_COMMAND: one.commands, **one.notes} for one in (self, other))
        for name in dict.fromkeys([*ours, *theirs]):
            if name not in ours or name not in theirs or ours[name].tobytes() != theirs[name].tobytes():
                return name
        return "" if self.paths == other.paths else _PATHS


@dataclass(frozen=True, eq=False)
class _Recorded:
    """A planner that replays the recorded commands of several drives at once; a row fails when it has no more commands.

    Attributes:
        drives: drive of each row.
        declares: declaration with the notes of all drives; it reads the path if any drive has global paths.
    """

    drives: Sequence[Drive]
    declares: Declaration = field(init=False)

    def __post_init__(self) -> None:
        needs = ("path",) if any(drive.paths for drive in self.drives) else ()
        notes = sorted({name for drive in self.drives for name in drive.notes})
        object.__setattr__(self, "declares", Declaration(needs=needs, notes=notes, turns_at_goal=True))

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the next command of every row."""
        calls = memory.get("calls", np.zeros(len(self.drives), np.int64))
        twists = np.full((len(self.drives), 3), np.nan, np.float32)
        notes = {name: np.zeros(len(self.drives), NOTES[name]) for name in self.declares.notes}
        for row, (call, drive) in enumerate(zip(calls, self.drives, strict=True)):
            if call < len(drive.commands):
                twists[row] = drive.commands[call]
                for name, note in drive.notes.items():
                    notes[name][row] = note[call]
        return Answer(twists, {"calls": calls + 1}, notes)


def redrive(plan: RunPlan, job: Job, drives: Mapping[str, Drive]) -> Iterator[tuple[dict[str, Any], Recording]]:
    """Replay the recorded commands of a job's episodes, and yield the resulting rows (without planning times) and recordings.

    Args:
        plan: plan of the run; its planners are not called.
        job: job with the episodes and the label of the planner.
        drives: recorded drives, by key of the row.

    Raises:
        InputError: an episode cannot be created on this machine, or one of its robots has no drive.
    """
    starts = {}
    for episode, start in plan.starts(job).items():
        if isinstance(start, str):
            raise InputError(f"{key_of(plan.suite, job.stage, episode, job.planner, 0)}: {start}")
        starts[episode] = start
    keys = [key_of(plan.suite, job.stage, k, job.planner, r) for k, start in starts.items() for r in range(len(start.robots))]
    if lost := [key for key in keys if key not in drives]:
        raise InputError(f"no commands for {lost[0]!r}")
    conditions = replace(Conditions.of(plan.suite.stage(job.stage)), perception=plan.told(job))
    episodes = Episodes(list(starts.values()), _Recorded([drives[key] for key in keys]), conditions, threads=plan.threads)
    ended = episodes if not plan.suite.stage(job.stage).counterfactual else with_undisturbed_pedestrians(episodes, conditions)
    measures = [metric for metric in metrics(own=plan.own) if metric.name not in TIMING]
    numbers = list(starts)
    for index, recordings in ended:
        told = plan.ended(job, numbers[index], starts[numbers[index]], recordings)
        for robot, recording in enumerate(recordings):
            yield _as_kept(told.row(robot, measures)), recording


def same(one: Recording, other: Recording) -> bool:
    """Return whether two recordings are bit-identical, apart from the map, sensor readings and failure messages."""
    ours, theirs = (
        recording_shards.encode_recordings({"": replace(each, map=None, sensors={}, failure="")}) for each in (one, other)
    )
    return ours == theirs and bool(one.failure) == bool(other.failure)


def _as_kept(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row in the form in which a shard stores it: numbers are float64, except in the identity columns."""
    return {
        name: float(value) if isinstance(value, int) and not isinstance(value, bool) and name not in store.IDENTITY else value
        for name, value in row.items()
    }


def write_drives(path: Path, drives: Mapping[str, Drive]) -> None:
    """Write drives, given by key, to one shard; a drive takes about 0.1 kB per second at 10 Hz."""
    import pyarrow as pa

    schema = _schema()
    lists: dict[str, list[Any]] = {
        _KEY: list(drives),
        _PATHS: [drive.paths for drive in drives.values()],
        _COMMAND: [drive.commands.ravel() for drive in drives.values()],
        **{name: [drive.notes.get(name) for drive in drives.values()] for name in NOTES},
    }
    table = pa.table([pa.array(lists[field.name], field.type) for field in schema], schema=schema)
    single = [f"{field.name}.list.element" for field in schema if field.type == pa.list_(pa.float32())]
    shard.write(path, shard.encode(table, single))


def read_drives(path: Path) -> dict[str, Drive]:
    """Return the drives in a shard, by key.

    Raises:
        InputError: the shard is damaged, or contains anything other than drives, two drives with the same key, or a number that is
            not finite.
    """
    table = shard.read(path)
    if isinstance(table, str):
        raise InputError(f"{path}: {table}")
    with reading(path, "recorded commands"):
        if table.schema != _schema():
            raise ValueError(f"its columns are {', '.join(map(str, table.schema))[:300]}")
        columns = {name: table.column(name).combine_chunks() for name in table.column_names}
        keys = [str(key) for key in columns[_KEY].to_pylist()]
        if twice := next((key for number, key in enumerate(keys) if key in keys[:number]), ""):
            raise ValueError(f"it contains the commands for {twice!r} twice")
        return {key: _unpack(columns, key, row) for row, key in enumerate(keys)}


def _schema() -> pyarrow.Schema:
    import pyarrow as pa

    notes = [(name, pa.list_(pa.from_numpy_dtype(kind))) for name, kind in NOTES.items()]
    return pa.schema([(_KEY, pa.string()), (_PATHS, pa.bool_()), (_COMMAND, pa.list_(pa.float32())), *notes])


def _unpack(columns: Mapping[str, pyarrow.Array], key: str, row: int) -> Drive:
    """Return the drive of a row."""
    arrays = {
        name: columns[name][row].values.to_numpy(zero_copy_only=False) for name in (_COMMAND, *NOTES) if columns[name][row].is_valid
    }
    commands = arrays.pop(_COMMAND).reshape(-1, 3)
    for name, array in {_COMMAND: commands, **arrays}.items():
        if len(array) != len(commands) or array.dtype.kind not in "fi" or not np.isfinite(array).all():
            raise ValueError(f"{name} of {key!r} is not one finite number for each of {len(commands)} calls")
    return Drive(commands, arrays, bool(columns[_PATHS][row].as_py()))
