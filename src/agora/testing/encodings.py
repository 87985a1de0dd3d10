"""The contract for encodings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from agora.config import build, plain
from agora.core.state import Floats
from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.errors import InputError
from agora.interfaces import Encoding, Observation, Setting
from agora.optics.lidar import Lidar
from agora.policies.planner_settings import PlannerSettings
from agora.registry import Plug, name_of
from agora.robots.model import RobotModel
from agora.simulators.native import NativeBodies
from agora.testing.crowds import DT, crowd, standing
from agora.testing.errors import ContractError
from agora.testing.guard import pure
from agora.world.start import Start

_LIDAR = Lidar(beams=61, angle_min=-2.1, angle_max=1.9, range_max=7.0, x=0.1, heading=0.1)
_ROBOT = RobotModel(name="disc", kinematics="holonomic", radius=0.3, vx=(-1.0, 1.0), vy=1.0, omega=4.0, lidar=_LIDAR)
_UNWRITTEN = np.float32(77.0)


@dataclass(frozen=True)
class _Held:
    """A record with an encoding as its only field, for storing the encoding in a file."""

    observe: Annotated[Encoding, Plug("encodings")]


def written_and_read(encoding: Encoding) -> Any:
    """Write an encoding to a policy file, and return the encoding read back from it.

    Raises:
        InputError: the encoding cannot be stored in a file.
    """
    return build(plain(_Held(encoding)), _Held, complete=True).observe


def check_encoding(encoding: Encoding, *, robot: RobotModel | None = None) -> None:
    """Check an encoding against the contract of `agora.interfaces.Encoding`.

    The encoding and its parameters can be stored in a file. Vectors are finite and within the encoding's bounds, both in a crowd
    and without people; each row depends only on its own robot, and only the requested rows are written. Calling `remember` twice
    has the same effect as calling it once, and memory is empty at the start of an episode. Actions give finite twists, and
    converting these twists to actions and back gives the same twists. If actions are settings of a planner, each setting has a
    finite value for every robot, regardless of the other robots' actions.

    Args:
        encoding: encoding to check. The check provides the channels that the encoding needs.
        robot: robot that makes the observations; by default, a holonomic robot with a lidar of 61 beams.

    Raises:
        ContractError: the encoding breaks a clause.
    """
    _Check(encoding, robot or _ROBOT, type(encoding).__name__).run()


@dataclass(frozen=True)
class _Check:
    """The clauses of the contract."""

    encoding: Encoding
    robot: RobotModel
    name: str

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{self.name}: {clause}")

    def run(self) -> None:
        """Run all checks."""
        self.files()
        for starts in (crowd(seed=1), crowd(seed=2), crowd((0,)), crowd((1,))):
            observation = self.observed(starts)
            self.rows(observation)
            self.remembers(observation)
            self.acts(observation)

    def files(self) -> None:
        """Check that a file can store the encoding's name and parameters."""
        try:
            name_of("encodings", self.encoding)
            if written_and_read(self.encoding) != self.encoding:
                raise self.fail("loading the saved file gives a different object; the fields must hold its whole state")
            self.encoding.check(self.robot)
        except InputError as error:
            raise self.fail(str(error)) from error

    def observed(self, starts: Sequence[Start]) -> Observation:
        """Return the observations of robots in crowds."""
        world = standing(tuple(starts))
        bodies = NativeBodies(world)
        try:
            wiring = Wiring.of(self.encoding.needs, Setting(self.robot.lidar))
            observer = Observer(world, wiring, DT, bodies.sensors())
            for w, start in enumerate(starts):
                for r in range(len(start.robots)):
                    observer.place(w, r, self.robot)
            observer.measure()
            return observer.observe()
        except InputError as error:
            raise self.fail(str(error)) from error
        finally:
            bodies.close()

    def write(self, observation: Observation, first: int, last: int) -> Floats:
        """Return the vectors that the encoding writes into rows that initially contain a marker."""
        out = np.full((len(observation.pose), self.encoding.length), _UNWRITTEN, np.float32)
        with pure(self.name, observation=observation):
            self.encoding.write(observation, out, first, last)
        return out

    def rows(self, observation: Observation) -> None:
        """Check the values of the vectors, and that rows are independent."""
        low, high, count = self.encoding.low, self.encoding.high, len(observation.pose)
        for end, bounds in (("low", low), ("high", high)):
            if bounds.shape != (self.encoding.length,) or bounds.dtype != np.float32:
                raise self.fail(f"{end} is {bounds.dtype} of shape {bounds.shape}, expected float32 ({self.encoding.length},)")
        whole = self.write(observation, 0, count)
        if not np.isfinite(whole).all():
            raise self.fail("a value is not finite")
        outside = np.argwhere((whole < low) | (whole > high))
        if len(outside):
            n, d = outside[0]
            raise self.fail(f"value {d} is {whole[n, d]:g}, but its bounds are {low[d]:g} and {high[d]:g}")
        for n in range(count):
            alone = self.write(observation, n, n + 1)
            if alone[n].tobytes() != whole[n].tobytes():
                raise self.fail(f"row {n} gives a different result when encoded alone than in a batch")
            if (np.delete(alone, n, 0) != _UNWRITTEN).any():
                raise self.fail(f"when only row {n} is requested, it also writes other rows")

    def remembers(self, observation: Observation) -> None:
        """Check the memory of earlier vectors."""
        count = len(observation.pose)
        seen, before = self.write(observation, 0, count), self.write(observation, 0, count)[::-1].copy()
        begins = np.arange(count) % 2 == 0
        once = seen.copy()
        self.encoding.remember(once, before, begins)
        twice, fresh = once.copy(), seen.copy()
        self.encoding.remember(twice, before, begins)
        self.encoding.remember(fresh, np.zeros_like(before), begins)
        if not np.array_equal(once, twice):
            raise self.fail("calling remember() twice gives different vectors from calling it once")
        if not np.array_equal(once[begins], fresh[begins]):
            raise self.fail("at the start of an episode, it still remembers the previous episode")

    def acts(self, observation: Observation) -> None:
        """Check the conversion of actions to twists."""
        o, count = observation, len(observation.pose)
        size = self.encoding.action_size(o.limits)
        actions = np.random.default_rng(3).uniform(-0.6, 0.6, (count, size)).astype(np.float32)
        if isinstance(self.encoding, PlannerSettings):
            self.sets(self.encoding, actions)
            return
        twists = self.encoding.twists(actions, o.limits, o.pose, o.goal)
        if twists.shape != (count, 3) or not np.isfinite(twists).all():
            raise self.fail(f"the twists of {count} actions are of shape {twists.shape}, or not finite")
        back = self.encoding.actions(twists, o.limits, o.pose, o.goal)
        if back.shape != actions.shape:
            raise self.fail(f"the actions of {count} twists are of shape {back.shape}, expected {actions.shape}")
        again = self.encoding.twists(back, o.limits, o.pose, o.goal)
        if not np.allclose(again, twists, atol=1e-3):
            raise self.fail("the actions of its twists give different twists")

    def sets(self, encoding: PlannerSettings, actions: Floats) -> None:
        """Check actions that are settings of a planner."""
        whole = encoding.settings(actions)
        for name, values in whole.items():
            if values.shape != (len(actions),) or not np.isfinite(values).all():
                raise self.fail(f"setting {name} of {len(actions)} actions is of shape {values.shape}, or not finite")
            alone = [encoding.settings(actions[n : n + 1])[name][0] for n in range(len(actions))]
            if not np.array_equal(values, alone):
                raise self.fail(f"setting {name} of a robot depends on other robots")
