"""The contract for metrics."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from agora.core.recording import Outcome, Recording
from agora.interfaces import Metric
from agora.testing.errors import ContractError
from agora.testing.guard import freeze, pure
from agora.testing.recordings import recording
from agora.testing.scenes import Move


def check_metric(metric: Metric, *, tolerance: float = 1e-6, moved: bool = True) -> None:
    """Check a metric against the contract of `agora.interfaces.Metric`.

    The metric has all descriptive fields. Its value is None or a finite float (0 or 1 for an indicator), even without pedestrians,
    without a map, and for recordings with one, two and three samples. The same recording gives a bit-identical value regardless of
    earlier calls. Inputs are not written, and no global random generator is used. Values in the slots of absent pedestrians have no
    effect, and shifting or rotating the scene does not change the value.

    Args:
        metric: metric to check.
        tolerance: relative and absolute tolerance of the value in the moved scene.
        moved: whether to check that moving the scene does not change the value; False for a metric from another benchmark that
            depends on the map's origin.

    Raises:
        ContractError: the metric breaks a clause.
    """
    check = _Check(metric)
    check.says_what_it_is()
    check.answers()
    check.repeats()
    check.absent()
    if moved:
        check.moved(tolerance)


def _short_and_odd() -> Iterator[tuple[str, Recording]]:
    """Yield extreme but valid recordings."""
    for outcome in Outcome:
        yield outcome.label, recording(outcome=outcome)
    yield "without pedestrians", recording(pedestrians=0)
    yield "one pedestrian", recording(pedestrians=1)
    for samples in (1, 2, 3):
        for pedestrians in (0, 3):
            yield f"{samples} samples, {pedestrians} pedestrians", recording(samples, pedestrians)
    yield "without a map", dataclasses.replace(recording(), map=None)
    yield "without a path to the goal", dataclasses.replace(recording(), shortest_path=math.inf)
    yield "a goal at the start", dataclasses.replace(recording(outcome=Outcome.REACHED), shortest_path=0.0)
    yield "without control calls", dataclasses.replace(recording(), planning_time=np.zeros(0))
    still = recording()
    stands = dataclasses.replace(still, pose=np.tile(still.pose[0], (len(still.time), 1)), twist=np.zeros_like(still.twist))
    yield "a robot that stands still", stands


@dataclass(frozen=True)
class _Check:
    """The clauses of the contract."""

    metric: Metric

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{getattr(self.metric, 'name', self.metric)}: {clause}")

    def ask(self, given: Recording, where: str) -> float | None:
        """Return the value for one recording, after all checks that apply to a single call."""
        with pure(f"{self.metric.name}: {where}", recording=given):
            value = self.metric.function(given)
        if value is None:
            return None
        if not isinstance(value, float) or not math.isfinite(value):
            raise self.fail(f"{where}: expected None or a finite float, got {value!r}")
        if not self.metric.takes(value):
            says = "the unit is 0/1" if self.metric.kind == "indicator" else f"its values are of the kind {self.metric.kind!r}"
            raise self.fail(f"{where}: the value is {value!r}, but {says}; decorate it with another values=")
        return value

    def says_what_it_is(self) -> None:
        """Check the fields that tables and documentation use."""
        if not isinstance(self.metric, Metric):
            raise self.fail("is not a Metric; decorate the function with agora.interfaces.metric")
        for field in ("name", "formula", "source"):
            if not getattr(self.metric, field).strip():
                raise self.fail(f"{field} is empty")
        if self.metric.direction not in ("higher", "lower", "neutral"):
            raise self.fail(f"direction: expected higher, lower or neutral, got {self.metric.direction!r}")
        if self.metric.over not in ("reached", "all"):
            raise self.fail(f"compared: expected reached or all, got {self.metric.compared!r}")
        if self.metric.version < 1:
            raise self.fail(f"version: expected at least 1, got {self.metric.version}")

    def answers(self) -> None:
        """Check that the value is None or a finite float for every recording."""
        for where, given in _short_and_odd():
            freeze(given)
            self.ask(given, where)

    def repeats(self) -> None:
        """Check that the same recording gives a bit-identical value."""
        first = self.ask(recording(), "first call")
        self.ask(recording(40, 2, seed=5), "call in between")
        again = self.ask(recording(), "repeated call")
        if again != first:
            raise self.fail(f"not deterministic: {first} and then {again} for the same recording")

    def absent(self) -> None:
        """Check that the values in an absent pedestrian's slot have no effect."""
        given, rng = recording(), np.random.default_rng(3)
        fields = ("pedestrian_position", "pedestrian_velocity", "pedestrian_heading")
        noise = {name: getattr(given, name).copy() for name in fields}
        for values in noise.values():
            values[~given.pedestrian_present] = rng.normal(0.0, 2.0, values[~given.pedestrian_present].shape)
        noise["pedestrian_position"][~given.pedestrian_present] += given.pose[:1, :2]
        before, after = (
            self.ask(given, "plain"),
            self.ask(dataclasses.replace(given, **noise), "different values for absent pedestrians"),
        )
        if before != after:
            raise self.fail(f"absent pedestrians change the value from {before} to {after}")

    def moved(self, tolerance: float) -> None:
        """Check that shifting or rotating the whole scene changes nothing."""
        moves = {
            "shifted": Move(-32.0, 16.0),
            "turned by 90 degrees": Move(turn=math.pi / 2),
            "turned, without walls": Move(4.0, -8.0, 0.7),
        }
        for clause, move in moves.items():
            for seed in (1, 2, 3):
                walls = clause != "turned, without walls"
                here = self.ask(recording(seed=seed, walls=walls), "here")
                there = self.ask(recording(seed=seed, walls=walls, move=move), clause)
                if (here is None) != (there is None) or (
                    here is not None and there is not None and not math.isclose(here, there, rel_tol=tolerance, abs_tol=tolerance)
                ):
                    raise self.fail(f"with the whole scene {clause}, the value changes from {here} to {there}")
