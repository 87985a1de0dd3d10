"""The contract for predictors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from agora.config import build, plain
from agora.core.state import Floats, Ints
from agora.costmap.window import Window
from agora.errors import AgoraError
from agora.interfaces import Memory, Observation, Predictor, PredictorDeclaration, Tracks
from agora.planners import adapters, memory
from agora.registry import Plug, load, name_of
from agora.testing.errors import ContractError
from agora.testing.guard import identical, pure
from agora.testing.scenes import Move, observation

_STEPS, _DT, _CALLS = 12, 0.4, 3
_MOVE = Move(dx=3.25, dy=-1.5, turn=0.5 * np.pi)
_NEAR = 2e-3  # m: float32 rounding at coordinates of some metres, and a costmap that is rasterised again


@dataclass(frozen=True)
class _Held:
    """A record with a predictor as its only field, for storing the predictor in a file."""

    prediction: Annotated[Predictor, Plug("predictors")]


def check_predictor(predictor: Predictor) -> None:
    """Check a predictor against the contract of `agora.interfaces.Predictor`.

    A registered predictor can be stored in a file with its parameters. Positions are finite float32 arrays of the requested shape,
    with zero, one and many people. A row depends only on itself; empty slots and the order of slots have no effect; the same call
    gives bit-identical results; zero memory in a row means the start of an episode; requesting more prediction times does not
    change the predictions for the first times. If the world is rotated or shifted, the predictions move with it. Inputs are not
    written, and no global random generator is used.

    Args:
        predictor: predictor to check.

    Raises:
        ContractError: the predictor breaks a clause.
    """
    check = _Check(predictor, type(predictor).__name__)
    if not isinstance(predictor.declares, PredictorDeclaration):
        raise check.fail("the attribute `declares` is not a PredictorDeclaration")
    check.is_written_and_read()
    for people in (0, 1, 5, 60):
        check.keeps_shape(people)
    check.rows_are_apart()
    check.slots_mean_nothing()
    check.moments_agree()
    check.moves_along()


@dataclass(frozen=True)
class _Check:
    """The clauses of the contract."""

    predictor: Predictor
    name: str

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{self.name}: {clause}")

    def is_written_and_read(self) -> None:
        """Check that a file restores the predictor."""
        try:
            registered = load("predictors", name_of("predictors", self.predictor)) is type(self.predictor)
        except AgoraError:
            return
        try:
            again = build(plain(_Held(self.predictor)), _Held, complete=True).prediction
        except AgoraError as error:
            raise self.fail(str(error)) from error
        if not registered or again != self.predictor:
            raise self.fail("loading the saved file gives a different object; the fields must hold its whole state")

    def scene(self, people: int = 5, seed: int = 1, move: Move | None = None) -> Observation:
        """Return a scene with a costmap window as the predictor requires."""
        window = self.predictor.declares.channels.get("costmap")
        own = window if isinstance(window, Window) else Window(sources=("map",))
        return observation(4, people, seed=seed, move=move, window=own, dt=_DT)

    def ask(self, o: Observation, before: Memory, steps: int = _STEPS) -> tuple[Floats, Memory]:
        """Return the positions and the memory, after all checks that apply to a single call."""
        people = o.pedestrians
        assert people is not None
        with pure(f"{self.name}: predict", observation=o, memory=before):
            answer = self.predictor.predict(o, steps, _DT, before)
        shape = (*people.present.shape, steps, 2)
        if not isinstance(answer.position, np.ndarray) or answer.position.shape != shape or answer.position.dtype != np.float32:
            raise self.fail(
                f"the positions are {getattr(answer.position, 'dtype', '')} {np.shape(answer.position)}, expected float32 {shape}"
            )
        if not np.isfinite(answer.position[people.present]).all():
            raise self.fail("the positions are not finite")
        for name, part in memory.parts(answer.memory):
            if not isinstance(part, np.ndarray) or not part.ndim or len(part) != len(o.pose):
                raise self.fail(f"memory {name!r} must have one row per robot")
        return answer.position, answer.memory

    def many(self, scenes: list[Observation]) -> tuple[Floats, Memory]:
        """Return the result for the last of several scenes, each one control period after the previous one."""
        place: Floats = np.zeros(0, np.float32)
        kept: Memory = {}
        for o in scenes:
            place, kept = self.ask(o, kept)
        return place, kept

    def keeps_shape(self, people: int) -> None:
        """Check successive calls, and that identical calls give identical results."""
        scenes = [self.scene(people)] * _CALLS
        if not identical(self.many(scenes), self.many(scenes)):
            raise self.fail("not deterministic: different positions for the same request")

    def rows_are_apart(self) -> None:
        """Check that a row gives the same results on its own as in a batch, even if its episode begins later."""
        first, second = self.scene(), self.scene(seed=2)
        _, kept = self.ask(first, {})
        late = memory.reset(kept, np.arange(4) == 2)
        places, _ = self.ask(second, late)
        for row in range(4):
            before = {} if row == 2 else memory.rows_of(kept, slice(row, row + 1))
            alone, _ = self.ask(adapters.batch_of_one(second, row), before)
            here = adapters.batch_of_one(second, row).pedestrians
            assert here is not None
            if alone[here.present].tobytes() != places[row : row + 1][here.present].tobytes():
                raise self.fail(
                    "the positions of a row depend on other rows" if row != 2 else "zero memory does not restart the prediction"
                )

    def slots_mean_nothing(self) -> None:
        """Check that empty slots and the order of slots have no effect."""
        first, o = self.scene(), self.scene(seed=2)
        _, kept = self.ask(first, {})
        places, _ = self.ask(o, kept)
        order = np.array([3, 0, 4, 2, 1])
        assert o.pedestrians is not None
        mixed, _ = self.ask(replace(o, pedestrians=_reordered(o.pedestrians, order)), kept)
        present = o.pedestrians.present[:, order]
        if not np.allclose(mixed[present], places[:, order][present], atol=_NEAR):
            raise self.fail("the positions depend on the order of the slots")
        junk = replace(o.pedestrians, position=np.where(o.pedestrians.present[..., None], o.pedestrians.position, np.float32(1.0)))
        other, _ = self.ask(replace(o, pedestrians=junk), kept)
        if other[o.pedestrians.present].tobytes() != places[o.pedestrians.present].tobytes():
            raise self.fail("the positions depend on empty slots")

    def moments_agree(self) -> None:
        """Check that the predictions for the first times do not depend on the number of prediction times."""
        o = self.scene()
        assert o.pedestrians is not None
        few, many = (self.ask(o, {}, steps)[0][o.pedestrians.present] for steps in (3, _STEPS))
        if few.tobytes() != np.ascontiguousarray(many[:, :3]).tobytes():
            raise self.fail("the first positions depend on the number of requested positions")

    def moves_along(self) -> None:
        """Check that predictions move with the world if it is rotated or shifted."""
        here, there = self.scene(), self.scene(move=_MOVE)
        assert here.pedestrians is not None
        one, other = self.ask(here, {})[0][here.pedestrians.present], self.ask(there, {})[0][here.pedestrians.present]
        if not np.allclose(_MOVE.points(one.reshape(-1, 2)), other.reshape(-1, 2), atol=_NEAR):
            raise self.fail("the positions differ in a rotated and shifted world")


def _reordered(tracks: Tracks, order: Ints) -> Tracks:
    """Return tracks with the slots in another order."""
    fields: dict[str, Any] = {name: value[:, order] for name, value in vars(tracks).items() if value is not None}
    return replace(tracks, **fields)
