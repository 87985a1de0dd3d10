"""Adapters that call planners of both forms (`Planner` and `BatchPlanner`) in the same way, for N rows; if a row fails, only that
row's robot stops.

With a `Planner`, the memory of a row is None or a tuple of arrays; for a batch it is stored as ``{"started": (N,), "0": (N, ...),
...}``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from agora.core.recording import Reason
from agora.core.state import Array, Bools, Floats, Ints, protected_copy, read_only
from agora.core.untrusted_calls import CallBoundary as Apart
from agora.core.untrusted_calls import Signalled
from agora.core.untrusted_calls import untrusted_call as stranger
from agora.errors import AgoraError, InputError, PlannerError, placed
from agora.interfaces import NOTES, Answer, BatchPlanner, Declaration, Memory, Observation, Planner
from agora.planners._failure import describe_failure
from agora.planners._final_turn import turn_at_goal
from agora.planners.memory import join, map_arrays, parts, put_rows, rows_of

Ranges = Callable[[Callable[[int, int], None]], None]
"""Calls a function for ranges of rows ``first <= n < last`` that together cover all rows, on several threads."""

ASKED_AGAIN = "asked_again"
"""Note of `call`: (N,) whether a row was called again by itself because the call for all rows failed; missing if none was."""

_STARTED = "started"
_LONGEST = 100  # maximum number of characters of a value in a message


def observation_of_row(observation: Observation, row: int) -> Observation:
    """Return the observation of the robot in one row: read-only views without the leading axis, and scalars in place of arrays
    (N,).
    """
    taken: Observation = _take_rows(observation, row)
    return taken


def batch_of_one(observation: Observation, row: int) -> Observation:
    """Return one row of an observation as a batch of one, read-only."""
    taken: Observation = _take_rows(observation, slice(row, row + 1))
    return taken


def observation_of_rows(observation: Observation, rows: Ints) -> Observation:
    """Return the observation of selected robots (R,), read-only."""
    taken: Observation = _take_rows(observation, rows)
    return taken


def call(
    planner: Planner | BatchPlanner, observation: Observation, memory: Memory, active: Bools, ranges: Ranges | None = None
) -> tuple[Answer, dict[int, str]]:
    """Return the answer of a planner of either form, and the reasons why rows failed.

    If a batched call for several rows raises an exception or returns arrays of the wrong shape, it is repeated row by row, and the
    repetition is noted (`ASKED_AGAIN`). Robots in rows that fail or are inactive stand still. Any exception raised by a planner
    counts as a failure of the planner, including ``SystemExit`` and ``KeyboardInterrupt``; a crash of the process is not caught,
    and Ctrl-C still interrupts the program (`agora.core.untrusted_calls`). Robots without a path stand still if the planner needs a
    path. Robots at a goal with a heading turn to it (`agora.planners._final_turn`), unless their planner does so itself. Reasons
    are always noted.

    Args:
        planner: planner of either form.
        observation: observation of N rows.
        memory: memory of the previous call; {} at the start.
        active: (N,) active rows.
        ranges: function that calls a ``concurrent`` planner for ranges of rows, on several threads; None to call the planner once
            for all rows.
    """
    declares, observation = planner.declares, protected_copy(observation)
    lost, none = _rows_without_path(declares, observation), np.zeros(len(active), np.int8)
    with Apart():
        answer, failures = _call(planner, declares, observation, memory, active & ~lost, ranges)
    twists, reason = answer.twists, np.where(lost, np.int8(Reason.NO_PATH), answer.notes.get("reason", none))
    if not declares.turns_at_goal:
        well = active & ~lost
        well[list(failures)] = False
        twists, turning = turn_at_goal(observation, twists, well)
        reason = np.where(turning, np.int8(Reason.NONE), reason)
    return Answer(twists, answer.memory, {**answer.notes, "reason": reason}), failures


def declaration_of(planner: Any) -> Declaration:
    """Return the declared properties of a planner or an interplanner.

    Raises:
        InputError: the planner has no declaration, or its own code raises an exception.
    """
    try:
        said = planner.declares if hasattr(type(planner), "declares") else getattr(planner, "declares", None)
    except AgoraError:
        raise
    except Exception as error:
        raise InputError(f"{type(planner).__name__} cannot say what it needs: {placed(error, __file__)}") from error
    if not isinstance(said, Declaration):
        expected = 'an attribute such as declares = Declaration(needs=("path",)), of agora.interfaces'
        raise InputError(f"{type(planner).__name__} does not declare what it needs: expected {expected}")
    return said


def notes_of(planner: Planner | BatchPlanner) -> frozenset[str]:
    """Return the notes that a planner makes for each row: the declared notes, plus the reasons."""
    return frozenset(planner.declares.notes) | {"reason"}


def record_contact(answer: Answer, touching: Bools) -> None:
    """Note ``START_IN_CONTACT`` for the rows (N,) whose robot touches something at its first call and whose planner noted no
    reason.
    """
    noted = answer.notes["reason"]
    noted[touching & (noted == Reason.NONE)] = Reason.START_IN_CONTACT


def _rows_without_path(declares: Declaration, observation: Observation) -> Bools:
    """Return which rows (N,) have no path although the planner needs one."""
    count = observation.path_count
    return np.zeros(len(observation.pose), np.bool_) if count is None or "path" not in declares.channels else np.asarray(count <= 0)


def _call(
    planner: Any, declares: Declaration, observation: Observation, memory: Memory, active: Bools, ranges: Ranges | None
) -> tuple[Answer, dict[int, str]]:
    """Return the answer of a planner of either form for the active rows, and the reasons for failures."""
    if hasattr(planner, "plan"):
        return _call_each_row(planner, observation, memory, active)
    try:
        with stranger():
            if ranges is not None and declares.concurrent:
                answer = call_in_ranges(planner, observation, memory, ranges)
            else:
                answer = planner.act(observation, memory)
        answer = check_answer(answer, len(active), declares)
    except Signalled:
        raise
    except BaseException as error:  # noqa: BLE001 - a stranger's code may raise anything; the rows below find out which
        if len(active) > 1:
            return _call_batch_by_row(planner, declares, observation, memory, active)
        return _standing_answer(1, declares, memory), {0: describe_failure(error, declares, observation)}
    twists = np.where(active[:, None], answer.twists, np.float32(0.0))
    failures = {int(row): f"twist {tuple(twists[row].tolist())}" for row in np.flatnonzero(~np.isfinite(twists).all(axis=1))}
    twists[list(failures)] = 0.0
    return Answer(twists, answer.memory, answer.notes), failures


@dataclass(frozen=True)
class Unmade:
    """A stand-in for a planner that must not be called: every row fails.

    Attributes:
        declares: properties of the planner.
        reason: reason why the rows fail.
    """

    declares: Declaration
    reason: str

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Raise an error with the reason.

        Raises:
            PlannerError: always.
        """
        raise PlannerError(self.reason)


@dataclass(frozen=True)
class Lifted:
    """A batch planner that wraps a planner for one robot.

    Attributes:
        planner: planner that is called once per row.
    """

    planner: Planner

    @property
    def declares(self) -> Declaration:
        """Return the properties of the planner."""
        return self.planner.declares

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3) and the memory.

        Raises:
            PlannerError: a row failed.
        """
        answer, failures = _call_each_row(self.planner, observation, memory, ~_rows_without_path(self.declares, observation))
        for row, reason in failures.items():
            raise PlannerError(f"row {row}: {reason}")
        return answer


def as_batch_planner(planner: Planner | BatchPlanner) -> BatchPlanner:
    """Return a planner of either form as a batch planner."""
    return Lifted(cast(Planner, planner)) if hasattr(planner, "plan") else planner


def call_in_ranges(planner: BatchPlanner, observation: Observation, memory: Memory, ranges: Ranges) -> Answer:
    """Call a batch planner for ranges of rows, and return the combined answer."""
    answers: dict[int, Answer] = {}

    def ask(first: int, last: int) -> None:
        part = slice(first, last)
        with stranger():
            answers[first] = planner.act(_take_rows(observation, part), rows_of(memory, part))

    ranges(ask)
    said = [answers[first] for first in sorted(answers)]
    notes = {name: np.concatenate([one.notes[name] for one in said]) for name in said[0].notes}
    return Answer(np.concatenate([one.twists for one in said]), join([one.memory for one in said]), notes)


def _take_rows(record: Any, index: Any) -> Any:
    """Return a record with ``index`` applied to every array that has rows; floats, None and values shared by all rows are
    unchanged.
    """
    taken = {}
    for one_field in dataclasses.fields(record):
        value = getattr(record, one_field.name)
        if dataclasses.is_dataclass(value):
            value = _take_rows(value, index)
        elif isinstance(value, dict):
            value = {name: {key: _rows(array, index) for key, array in reading.items()} for name, reading in value.items()}
        elif isinstance(value, np.ndarray):
            value = _rows(value, slice(None) if one_field.metadata.get("shared") else index)
        taken[one_field.name] = value
    return type(record)(**taken)


def _rows(array: Array, index: Any) -> Any:
    """Return rows of an array, read-only; one row of an array (N,) is returned as a scalar."""
    rows = array[index]
    return read_only(rows) if isinstance(rows, np.ndarray) else rows


def check_answer(answer: Any, count: int, declares: Declaration) -> Answer:
    """Check a batch planner's answer for ``count`` rows, and return it with float32 twists.

    Args:
        answer: answer that the planner returned.
        count: number of rows.
        declares: properties of the planner, with its notes.

    Raises:
        PlannerError: a shape or a type is wrong, or a note is missing.
    """
    if not isinstance(answer, Answer):
        raise PlannerError(f"act returns an Answer, not {type(answer).__name__}")
    twists = _to_float32(answer.twists)
    if twists.shape != (count, 3):
        raise PlannerError(f"twists of shape {twists.shape}, not {(count, 3)}")
    if not isinstance(answer.memory, dict):
        raise PlannerError(f"memory is of type {type(answer.memory).__name__}, not a dict of arrays")
    for name, array in parts(answer.memory):
        if not isinstance(array, np.ndarray) or array.shape[:1] != (count,):
            raise PlannerError(f"memory {name!r} is not an array with {count} rows on its first axis")
    for name in answer.notes.keys() | set(declares.notes):
        note = answer.notes.get(name)
        if name not in declares.notes:
            raise PlannerError(f"notes {name!r}, which it does not declare")
        if not isinstance(note, np.ndarray) or note.dtype != NOTES[name] or note.shape != (count,):
            raise PlannerError(f"note {name!r} is declared, but is not an array ({count},) of {np.dtype(NOTES[name])}")
    return Answer(twists, answer.memory, answer.notes)


def _to_float32(twists: Any) -> Floats:
    """Return twists as float32, a copy.

    Raises:
        PlannerError: the twists are strings, complex numbers or times, which NumPy would convert to numbers.
    """
    given = np.asarray(twists)
    for kind, words in (("US", "text"), ("c", "complex numbers"), ("mM", "times"), ("V", "records")):
        if given.dtype.kind in kind or (given.dtype.kind == "O" and any(np.asarray(one).dtype.kind in kind for one in given.flat)):
            raise PlannerError(f"twist {tuple(given.ravel()[:3].tolist())!r}: expected real numbers, got {words}")
    with np.errstate(over="ignore"):
        return np.array(given, np.float32)


def _call_batch_by_row(
    planner: BatchPlanner, declares: Declaration, observation: Observation, memory: Memory, active: Bools
) -> tuple[Answer, dict[int, str]]:
    """Call a batch planner separately for each row, as a batch of one."""
    count, failures = len(active), dict[int, str]()
    standing = _standing_answer(count, declares, memory)
    twists, after, notes = standing.twists, standing.memory, {**standing.notes}
    for row in map(int, np.flatnonzero(active)):
        try:
            own = rows_of(memory, slice(row, row + 1))
            with stranger():
                said = planner.act(batch_of_one(observation, row), own)
            answer = check_answer(said, 1, declares)
            if not np.isfinite(answer.twists).all():
                raise PlannerError(f"twist {tuple(answer.twists[0].tolist())}")
            put_rows(after, np.array([row]), answer.memory, count)
            twists[row] = answer.twists[0]
            for name, note in answer.notes.items():
                notes[name][row] = note[0]
        except Signalled:
            raise
        except BaseException as error:  # noqa: BLE001 - a stranger's code may raise anything; it ends this row
            failures[row] = describe_failure(error, declares, observation)
    return Answer(twists, after, notes | {ASKED_AGAIN: active.copy()}), failures


def _standing_answer(count: int, declares: Declaration, memory: Memory) -> Answer:
    """Return a batch planner's answer in which all robots stand still and keep their memory."""
    notes = {name: np.zeros(count, NOTES[name]) for name in declares.notes}
    return Answer(np.zeros((count, 3), np.float32), map_arrays(np.copy, memory), notes)


def _call_each_row(planner: Any, observation: Observation, memory: Memory, active: Bools) -> tuple[Answer, dict[int, str]]:
    """Call a planner for one robot once per active row."""
    count = len(active)
    twists, failures = np.zeros((count, 3), np.float32), {}
    after = {name: array.copy() for name, array in memory.items()}
    for row in map(int, np.flatnonzero(active)):
        before = None
        if after and after[_STARTED][row]:
            before = tuple(after[str(k)][row].copy() for k in range(len(after) - 1))
        try:
            with stranger():
                said = planner.plan(observation_of_row(observation, row), before)
            twist, kept = _twist_and_memory(said)
            _store_memory(after, row, count, kept)
            twists[row] = twist
        except Signalled:
            raise
        except BaseException as error:  # noqa: BLE001 - a stranger's code may raise anything; it ends this row
            failures[row] = describe_failure(error, planner.declares, observation)
    return Answer(twists, after), failures


def _twist_and_memory(said: Any) -> tuple[Floats, Any]:
    """Return the twist (3,) and the memory from the result of `Planner.plan`."""
    if not isinstance(said, tuple | list) or len(said) != 2:
        raise PlannerError(f"plan returned {_shorten(said)}; expected ((vx, vy, omega), memory)")
    answer, kept = said
    twist = _to_float32(answer)
    if twist.shape != (3,) or not np.isfinite(twist).all():
        raise PlannerError(f"twist {_shorten(answer)}; expected three finite numbers (vx, vy, omega)")
    return twist, kept


def _shorten(value: Any) -> str:
    """Return the text of a value for a message, truncated if it is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _store_memory(after: Memory, row: int, count: int, kept: Any) -> None:
    """Store one row's memory; the number, shapes and types of its arrays must not change during an episode."""
    if kept is None:
        if after:
            after[_STARTED][row] = False
        return
    if not isinstance(kept, tuple):
        raise PlannerError(f"memory is of type {type(kept).__name__}, not None or a tuple of arrays")
    arrays = [np.asarray(value) for value in kept]
    if not after:
        after[_STARTED] = np.zeros(count, np.bool_)
        after.update({str(k): np.zeros((count, *array.shape), array.dtype) for k, array in enumerate(arrays)})
    if len(arrays) != len(after) - 1:
        raise PlannerError(f"memory has {len(arrays)} arrays, before it had {len(after) - 1}")
    for k, array in enumerate(arrays):
        if array.shape != after[str(k)].shape[1:] or array.dtype != after[str(k)].dtype:
            was = after[str(k)]
            raise PlannerError(f"memory array {k} is {array.dtype}{array.shape}, before it was {was.dtype}{was.shape[1:]}")
        after[str(k)][row] = array
    after[_STARTED][row] = True
