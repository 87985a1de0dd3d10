"""The contract for planners."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from typing import Any, get_args

import numpy as np

from agora.core.recording import Reason
from agora.core.state import Array, Bools, Floats
from agora.errors import InputError
from agora.interfaces import Answer, BatchPlanner, Label, Limits, Memory, Observation, Planner, Tracks
from agora.interfaces.observation import VIEWS
from agora.planners import adapters
from agora.planners.memory import map_arrays, reset
from agora.testing.bad_input import BEARING, INPUTS, NO_PATH, PERSON, WALL, bad_inputs
from agora.testing.errors import ContractError
from agora.testing.guard import freeze, pure
from agora.testing.scenes import Move, observation, sensors_of
from agora.testing.speed import hidden_speed

_KINDS: dict[str, dict[str, Any]] = {
    "differential": {},
    "holonomic": {"max_vy": 0.6},
    "car-like": {"turning_radius": 0.7, "corners": 4},
}
_STEPS = 3
_PER_THREAD = 4
_STANDS, _CREEPS = 1e-6, 1e-3  # m/s
_ROUNDED = 2e-6  # m, half of the last bit of float32 between 32 and 64 m


def check_planner(
    planner: Planner | BatchPlanner,
    *,
    tolerance: float = 1e-3,
    grid: bool = False,
    handed: bool = False,
    within_limits: bool = True,
    gives_way: bool = True,
    kinds: tuple[str, ...] = ("differential", "holonomic", "car-like"),
) -> None:
    """Check a planner (`Planner` or `BatchPlanner`) against the contract of `agora.interfaces`.

    Twists are finite, of shape (N, 3) and, if requested, within the robot's limits. An empty crowd and a missing path are handled.
    The same observation gives bit-identical twists regardless of earlier calls, whether a row is on its own or in a batch, and, if
    the planner is ``concurrent``, on several threads. Inputs are not written, and no global random generator is used. Empty slots
    have no effect. Shifting or rotating the scene does not change the twists, and mirroring it mirrors them. The first axis of
    memory is the rows, and zeros in a row mean the start of an episode.

    The planner's label is one of `agora.interfaces.Label`, and its tunable parameters are numeric fields that accept every value in
    their span. The planner drives about as fast as the robot or its declared top speed allows, and no faster than an interplanner
    permits. Bad input is handled as described in `check_bad_input`.

    Args:
        planner: planner to check.
        tolerance: tolerance of twists in the shifted and rotated scene, m/s and rad/s.
        grid: whether the planner works on a grid of cells. If so, scenes are rotated only by quarter turns, and only nine out of
            ten rows must agree, within the tolerance or within ten times the change in twist caused by moving the robot 2 um
            sideways.
        handed: whether the planner treats left and right differently: for example, it passes people on one side, draws random
            numbers, or is a network that was not trained to treat both sides equally. Planners with channels of their own are not
            tested with mirror images.
        within_limits: whether twists beyond the robot's limits are an error; in episodes, they are clipped and counted.
        gives_way: whether driving farther into an object that the robot already touches is an error, as in `check_bad_input`.
        kinds: kinds of robots to test.

    Raises:
        ContractError: the planner breaks a clause.
    """
    _says(planner)
    for check in _checks(planner, kinds):
        check.answers(within_limits)
        check.repeats()
        check.rows_are_alone()
        check.on_threads()
        check.empty_slots()
        check.fresh_rows()
        check.moved(tolerance, grid, handed)
        check.bad_input(within_limits, gives_way)
    if within_limits and (hidden := hidden_speed(adapters.as_batch_planner(planner))):
        raise ContractError(f"{type(planner).__name__}: {hidden}")


def check_bad_input(
    planner: Planner | BatchPlanner,
    *,
    within_limits: bool = True,
    gives_way: bool = True,
    kinds: tuple[str, ...] = ("differential", "holonomic", "car-like"),
) -> None:
    """Check a planner's results for bad input (`agora.testing.bad_input.INPUTS`), calling it as in episodes.

    No call fails, and twists are finite and, if requested, within limits. A row gives bit-identical results on its own and in the
    batch. Without a path, a planner that needs one stops, and the reason is noted. The planner does not drive farther into a
    pedestrian or wall that it perceives. A planner that notes reasons gives a reason whenever the robot stands still. Memory from
    bad input has no harmful effect later.

    Args:
        planner: planner to check.
        within_limits: as for `check_planner`.
        gives_way: whether driving farther into an object that the robot already touches is an error.
        kinds: kinds of robots to test.

    Raises:
        ContractError: the planner breaks a clause.
    """
    for check in _checks(planner, kinds):
        check.bad_input(within_limits, gives_way)


def _checks(planner: Planner | BatchPlanner, kinds: tuple[str, ...]) -> list[_Check]:
    """Return one `_Check` for each kind of robot."""
    channels, period = planner.declares.channels, planner.declares.period
    seen = {"window": channels.get("costmap"), "semantics": channels.get("semantics"), "sensors": sensors_of(channels)}
    parts: dict[str, Any] = seen | ({"dt": period} if period else {})
    return [
        _Check(adapters.as_batch_planner(planner), f"{type(planner).__name__} ({kind})", {**parts, **_KINDS[kind]})
        for kind in kinds
    ]


def _says(planner: Planner | BatchPlanner) -> None:
    """Check the properties of a planner: its label, and its tunable fields."""
    declares, name = adapters.declaration_of(planner), type(planner).__name__
    if declares.label not in get_args(Label):
        raise ContractError(f"{name}: label: expected one of {', '.join(get_args(Label))}, got {declares.label!r}")
    fields: set[str] = {field.name for field in dataclasses.fields(planner)} if dataclasses.is_dataclass(planner) else set()
    for key, span in declares.tunable.items():
        value = getattr(planner, key, None)
        if key not in fields or isinstance(value, bool) or not isinstance(value, int | float | None):
            raise ContractError(f"{name}: tunable: {key!r} is not a numeric field")
        for end in (span.low, span.high):
            try:
                dataclasses.replace(planner, **{key: int(end) if isinstance(value, int) else end})  # type: ignore[type-var]
            except (TypeError, ValueError, InputError) as error:
                raise ContractError(f"{name}: tunable: it refuses {key} = {end}: {error}") from error


def needed(whole: Observation, needs: Collection[str]) -> Observation:
    """Return an observation with only the channels that a planner requests, as in an episode."""
    absent: dict[str, Any] = {name: None for name, channel in VIEWS.items() if channel not in needs}
    return dataclasses.replace(whole, **absent)


def beyond(limits: Limits, twists: Floats) -> str:
    """Return a description of the first among the twists (N, 3) that exceeds its robot's limits; empty if there is none."""
    vx, vy, omega = twists.T.astype(float)
    most = {
        "vx": (vx, limits.min_vx, limits.max_vx),
        "vy": (vy, -limits.max_vy, limits.max_vy),
        "omega": (omega, -limits.max_omega, limits.max_omega),
        "omega x turning radius": (np.abs(omega) * limits.turning_radius, 0.0 * vx, np.abs(vx) + (limits.turning_radius <= 0)),
    }
    for what, (value, low, high) in most.items():
        for row in np.flatnonzero(~((value >= low - 1e-3) & (value <= high + 1e-3))):
            return f"{what} {value[row]:.4g} of row {row} is beyond the robot's limits {low[row]:.4g} .. {high[row]:.4g}"
    return ""


@dataclass(frozen=True)
class _Check:
    """The clauses of the contract, for one kind of robot."""

    planner: BatchPlanner
    name: str
    scene: dict[str, Any]

    def observe(self, **changes: Any) -> Observation:
        """Return a scene as an observation with the channels that the planner needs."""
        arguments = {**self.scene, **changes}
        return needed(observation(**arguments), self.planner.declares.channels)

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{self.name}: {clause}")

    def act(self, seen: Observation, memory: Memory, where: str) -> tuple[Floats, Memory]:
        """Call the planner, with all checks that apply to a single call."""
        rows = len(seen.pose)
        memory = map_arrays(np.copy, memory)
        freeze(memory)
        with pure(f"{self.name}: {where}", observation=seen, memory=memory):
            answer = adapters.check_answer(self.planner.act(seen, memory), rows, self.planner.declares)
        twists = answer.twists
        if not np.isfinite(twists).all():
            row = int(np.flatnonzero(~np.isfinite(twists).all(axis=1))[0])
            raise self.fail(f"{where}: row {row}: the twist is {twists[row].tolist()}")
        return twists, answer.memory

    def same(self, twists: Floats, other: Floats, clause: str, tolerance: float | Floats = 0.0, agreement: float = 1.0) -> None:
        """Check that two results agree in at least a given fraction of the rows, bit for bit or within a tolerance, given as one
        value or one per row.
        """
        wrong = np.abs(twists - other).max(axis=1) > tolerance
        if wrong.mean() > 1.0 - agreement + 1e-9:
            row = int(np.flatnonzero(wrong)[0])
            raise self.fail(f"{clause}: {int(wrong.sum())} of {len(wrong)} rows differ; row {row}: {twists[row]} and {other[row]}")

    def answers(self, within_limits: bool) -> None:
        """Check shape, finiteness and limits in several scenes and steps, including scenes without people or without a path."""
        for seed in (1, 2, 3):
            memory: Memory = {}
            for step in range(_STEPS):
                seen = self.observe(seed=seed)
                twists, memory = self.act(seen, memory, f"step {step}")
                if within_limits:
                    self.drivable(seen.limits, twists)
        self.act(self.observe(pedestrians=0), {}, "without pedestrian slots")
        self.act(self.observe(rows=1, pedestrians=1), {}, "one robot, one pedestrian")
        empty = self.observe()
        if empty.path_count is not None:
            self.act(dataclasses.replace(empty, path_count=np.zeros_like(empty.path_count)), {}, "without a path")
        gone: dict[str, Any] = {
            name: dataclasses.replace(t, present=np.zeros_like(t.present)) for name, t in _tracks(empty).items()
        }
        self.act(dataclasses.replace(empty, **gone), {}, "with empty slots only")

    def bad_input(self, within_limits: bool, gives_way: bool) -> None:
        """Check the results for bad input; see `check_bad_input`."""
        seen, good = (needed(whole, self.planner.declares.channels) for whole in bad_inputs(**self.scene))
        memory: Memory = {}
        for step in range(_STEPS):
            answer = self.called(seen, memory, f"bad input, step {step}")
            if within_limits:
                self.drivable(seen.limits, answer.twists)
            if step == 0:
                self.stops(seen, answer, gives_way)
                alone = [self.called(adapters.batch_of_one(seen, row), {}, bad).twists for row, bad in enumerate(INPUTS)]
                self.same(
                    answer.twists,
                    np.concatenate(alone),
                    "rows affect each other: bad input gives different twists in the batch and alone",
                )
            memory = answer.memory
        self.called(good, memory, "after bad input")

    def called(self, seen: Observation, memory: Memory, where: str) -> Answer:
        """Call the planner as in an episode."""
        freeze(memory)
        with pure(f"{self.name}: {where}", observation=seen, memory=memory):
            answer, failures = adapters.call(self.planner, seen, memory, np.ones(len(seen.pose), np.bool_))
        for row, why in failures.items():
            raise self.fail(f"{where}: {INPUTS[row]}: fails: {why}" if len(seen.pose) > 1 else f"{where}: fails: {why}")
        return answer

    def stops(self, seen: Observation, answer: Answer, gives_way: bool) -> None:
        """Check that the planner stops when there is no path, does not drive farther into objects that the robot already touches,
        and gives a reason when the robot stands still.
        """
        needs, window = self.planner.declares.channels, self.scene["window"]
        twists, noted = answer.twists, answer.notes["reason"]
        if "path" in needs and (twists[NO_PATH].any() or noted[NO_PATH] != Reason.NO_PATH):
            raise self.fail(f"no path: expected the robot to stop with the reason no_path; its twist is {twists[NO_PATH]}")
        marked = "costmap" in needs and (window is None or "people" in window.sources)
        for touched, reads in ((WALL, "costmap" in needs), (PERSON, "pedestrians" in needs or marked)):
            into = float(twists[touched, :2] @ (math.cos(BEARING), math.sin(BEARING)))
            if gives_way and reads and into > _CREEPS:
                raise self.fail(f"{INPUTS[touched]}: the robot drives farther into it at {into:.3g} m/s")
        if "reason" in self.planner.declares.notes:
            for row in np.flatnonzero((np.abs(twists).max(axis=1) < _STANDS) & (noted == Reason.NONE)):
                raise self.fail(f"{INPUTS[row]}: the robot stops without a noted reason")

    def drivable(self, limits: Limits, twists: Floats) -> None:
        """Return twists that the robot can drive."""
        if wrong := beyond(limits, twists):
            raise self.fail(wrong)

    def repeats(self) -> None:
        """Check that the same call gives bit-identical results, regardless of calls in between."""
        seen = self.observe()
        first, memory = self.act(seen, {}, "first call")
        second, _ = self.act(seen, memory, "second call")
        self.act(self.observe(seed=9, rows=2), {}, "call in between")
        self.same(first, self.act(seen, {}, "repeated call")[0], "not deterministic: the same observation gives different twists")
        self.same(
            second,
            self.act(seen, memory, "repeated call")[0],
            "not deterministic: the same observation and memory give different twists",
        )

    def rows_are_alone(self) -> None:
        """Check that a row gives bit-identical results on its own (with its own memory) and in a batch."""
        seen = self.observe()
        together, memory = self.act(seen, {}, "batch")
        after, _ = self.act(seen, memory, "batch, second step")
        for row in range(len(seen.pose)):
            single = adapters.batch_of_one(seen, row)
            alone, own = self.act(single, {}, f"row {row} alone")
            self.same(
                together[row : row + 1], alone, f"rows affect each other: row {row} gives different twists in the batch and alone"
            )
            self.same(
                after[row : row + 1],
                self.act(single, own, f"row {row} alone")[0],
                f"rows affect each other through the memory of row {row}",
            )

    def on_threads(self) -> None:
        """Check that calls from several threads give results bit-identical to one call for the whole batch, if the planner allows
        concurrent calls.
        """
        if not self.planner.declares.concurrent:
            return
        seen = self.observe(rows=2 * _PER_THREAD)
        together, memory = self.act(seen, {}, "batch")
        after, _ = self.act(seen, memory, "batch, second step")

        def ranges(ask: Callable[[int, int], None]) -> None:
            both = Barrier(2)

            def at_once(first: int) -> None:
                both.wait()
                ask(first, first + _PER_THREAD)

            with ThreadPoolExecutor(2) as pool:
                for done in [pool.submit(at_once, first) for first in (0, _PER_THREAD)]:
                    done.result()

        first = adapters.call_in_ranges(self.planner, seen, {}, ranges)
        self.same(together, first.twists, "concurrent: two threads give different twists from one thread")
        second = adapters.call_in_ranges(self.planner, seen, first.memory, ranges)
        self.same(after, second.twists, "concurrent: two threads give different twists from one thread in the second step")

    def empty_slots(self) -> None:
        """Check that neither the values in empty slots nor the number of such slots has an effect."""
        seen = self.observe()
        plain, _ = self.act(seen, {}, "plain")
        for name, tracks in _tracks(seen).items():
            filled = dataclasses.replace(
                tracks, **{key: _noise(getattr(tracks, key), tracks.present) for key in ("position", "velocity", "radius")}
            )
            other, _ = self.act(dataclasses.replace(seen, **{name: filled}), {}, f"different values in empty slots of {name}")
            self.same(plain, other, f"empty slots of {name} change the result")
            wider = dataclasses.replace(tracks, **{f.name: _widened(getattr(tracks, f.name)) for f in dataclasses.fields(tracks)})
            other, _ = self.act(dataclasses.replace(seen, **{name: wider}), {}, f"more empty slots of {name}")
            self.same(plain, other, f"the number of slots of {name} changes the result", tolerance=1e-5)

    def fresh_rows(self) -> None:
        """Check that zeros in a row's memory mean the start of an episode."""
        seen = self.observe()
        fresh, memory = self.act(seen, {}, "fresh")
        _, memory = self.act(self.observe(seed=5), memory, "another scene")
        some: Bools = np.arange(len(seen.pose)) % 2 == 0
        again, _ = self.act(seen, reset(memory, some), "after a masked reset")
        self.same(fresh[some], again[some], "a row with zeroed memory does not restart")

    def moved(self, tolerance: float, grid: bool, handed: bool) -> None:
        """Check that shifting or rotating the whole scene does not change the twists, and that mirroring the scene mirrors them.

        The share of agreeing rows is computed over several scenes.
        """
        moves = {
            "shifted": Move(-32.0, 16.0),
            "turned by 90 degrees": Move(turn=math.pi / 2),
            "mirrored": Move(mirror=True),
            "moved": Move(3.0, -8.0, 0.7),
        }
        if handed or self.scene["sensors"]:
            del moves["mirrored"]
        if grid:
            del moves["moved"]
        scenes = [self.observe(rows=8, seed=seed) for seed in (1, 2, 3)]
        here = np.concatenate([self.act(seen, {}, "here")[0] for seen in scenes])
        bounds = self.rounded(scenes, here, tolerance) if grid else tolerance
        for clause, move in moves.items():
            there = np.concatenate([self.act(self.observe(rows=8, seed=seed, move=move), {}, clause)[0] for seed in (1, 2, 3)])
            back = np.asarray(move.twists(there), np.float32)
            self.same(here, back, f"the scene {clause} as a whole", bounds, 0.9 if grid else 1.0)

    def rounded(self, scenes: list[Observation], twists: Floats, tolerance: float) -> Floats:
        """Return the tolerance for each row: ten times the change in its twist, or in most twists, caused by moving the robot 2 um
        sideways.

        This corresponds to the rounding error of a moved scene. An optimiser that has not converged may amplify it to centimetres.
        """
        change = np.zeros(len(twists), np.float32)
        for step in (_ROUNDED, -_ROUNDED):
            shift = np.array([step, -step, 0.0], np.float32)
            near = [dataclasses.replace(seen, pose=np.asarray(seen.pose + shift, np.float32)) for seen in scenes]
            other = np.concatenate([self.act(seen, {}, "the robot 2 um aside")[0] for seen in near])
            change = np.maximum(change, np.abs(twists - other).max(axis=1))
        return np.maximum(10.0 * np.maximum(change, np.median(change)), tolerance)


def _tracks(seen: Observation) -> dict[str, Any]:
    """Return the fields of an observation that hold tracks."""
    return {name: value for name in VIEWS if isinstance(value := getattr(seen, name), Tracks)}


def _noise(values: Array, present: Bools) -> Array:
    """Replace the values in empty slots with numbers that would change the results if they were read."""
    changed = values.copy()
    changed[~present] = 0.125
    return changed


def _widened(values: Array) -> Array:
    """Add three empty slots to the tracks."""
    return np.concatenate((values, np.zeros((values.shape[0], 3, *values.shape[2:]), values.dtype)), axis=1)
