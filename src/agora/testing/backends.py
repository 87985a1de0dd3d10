"""The contract for backends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from agora.core.recording import Contact, ContactKind, Outcome
from agora.core.state import STAY, Array, Floats
from agora.draft.periods import Periods
from agora.engine.backends import backend_of
from agora.engine.conditions import Conditions
from agora.engine.recorder import take_events
from agora.interfaces import AnySimulator, Backend
from agora.maps.grid import Map
from agora.robots.model import RobotModel
from agora.testing.crowds import crowd
from agora.testing.errors import ContractError
from agora.testing.guard import identical
from agora.world.records import RUNNING
from agora.world.start import PedestrianStarts, RobotStart, Start

_DT = 0.05
_SPEED = 0.8  # m/s, speed of the robots
_NEAR = 0.1  # m, maximum distance of a recorded contact from the expected position
_INTO = 0.05  # m, allowed overlap of a robot and a wall
_DISC = RobotModel(name="disc", kinematics="differential", radius=0.3, vx=(-0.5, 1.0), omega=1.5)
_PLAIN = Map.open((-4.3, -2.2), (8.7, 6.8), name="plain")
_BARRIER = Map.from_shapes(segments=[[2.1, -2.2, 2.1, 6.8]], bounds=(-4.3, -2.2, 8.7, 6.8), resolution=0.05, name="barrier")


def check_backend(simulator: AnySimulator) -> None:
    """Check the engine of a simulator against the contract of `agora.interfaces.Backend`.

    Episodes begin in their start states; steps are counted, and reported once they are complete; robots drive and stop. Contacts
    with walls, people and robots occur at the right positions, and end an episode only if its conditions say so. Reaching a goal
    activates the next one, and the time limit ends episodes that do not finish. Changed records take effect, and finished worlds do
    not change. The same commands give bit-identical results, including after a reset, when several steps are combined in one call,
    and whatever the other worlds do.

    Args:
        simulator: simulator with the ability ``step``, which either has its own engine or moves robots in the library's engine.

    Raises:
        ContractError: the simulator breaks a clause.
    """
    check = _Check(simulator, type(simulator).__name__)
    check.begins()
    check.counts_steps()
    check.drives()
    check.reaches_goals()
    check.times_out()
    check.touches_walls()
    check.touches_people()
    check.touches_robots()
    check.adopts()
    check.repeats()
    check.nobody()


@dataclass(frozen=True)
class _Check:
    """The clauses of the contract."""

    simulator: AnySimulator
    name: str

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{self.name}: {clause}")

    def expect(self, right: object, clause: str) -> None:
        """Raise the error for a violated clause unless ``right`` is true."""
        if not right:
            raise self.fail(clause)

    def made(self, starts: Sequence[Start], **terms: Any) -> _Driven:
        """Return an engine at the start of its episodes."""
        conditions = Conditions(Periods(_DT, _DT, _DT, _DT), simulator=self.simulator, **terms)
        backend = backend_of(starts, conditions)
        for w, start in enumerate(starts):
            self.expect(backend.holds(start), "`holds` refuses an episode for which the engine was created")
            backend.reset(w, start)
        return _Driven(backend)

    def begins(self) -> None:
        """Check that episodes begin in their start states, including after a reset and in a single world."""
        starts = crowd()
        driven = self.made(starts)
        for again in (False, True):
            for w, start in enumerate(starts):
                world = driven.backend.world
                seen = (world.robots.x[w], world.robots.y[w], world.robots.heading[w])
                poses = np.array([robot.pose for robot in start.robots])
                self.expect(np.allclose(np.stack(seen, -1), poses, atol=1e-5), f"world {w}: robots do not start at their poses")
                people = np.stack([world.pedestrians.x[w], world.pedestrians.y[w]], -1)[: start.crowd_size]
                self.expect(
                    np.allclose(people, start.pedestrians.position, atol=1e-5),
                    f"world {w}: pedestrians do not start at their positions",
                )
                status = world.status
                fresh = status.clock.step[w] == 0 and not status.clock.done[w] and (status.ends.outcome[w] == RUNNING).all()
                self.expect(fresh, f"world {w}: a new episode is at step {status.clock.step[w]}, or has ended")
            if not again:
                driven.run(20, (0.5, 0.0, 0.3))
                before = driven.state(1)
                for w in (0, 2, 3):
                    driven.backend.reset(w, starts[w])
                self.expect(identical(before, driven.state(1)), "a reset of other worlds changes one that continues")
                driven.backend.reset(1, starts[1])

    def counts_steps(self) -> None:
        """Check that steps are counted, and reported once they are complete."""
        driven = self.made([_start()] * 2, ends=0)
        driven.leave(1)
        world, ticks = driven.backend.world, list[int]()
        driven.backend.advance(3, lambda: ticks.append(world.tick))
        self.expect(world.tick == 3, f"after 3 steps `world.tick` is {world.tick}")
        self.expect(ticks and ticks[-1] == 3, f"`after_step` was called at steps {ticks}, but not after the last one")
        steps = world.status.clock.step.tolist()
        self.expect(steps == [3, 0], f"after 3 steps, the clocks of a running and a finished world show {steps}; expected [3, 0]")

    def drives(self) -> None:
        """Check that robots drive as far as their speed allows, on a straight line and on an arc, and that they stop."""
        driven = self.made([_start(pose=(-1.0, 0.5, 0.6))], ends=0)
        driven.run(40, (_SPEED, 0.0, 0.0))
        x, y, heading = driven.pose(0)
        way, aside = np.hypot(x + 1.0, y - 0.5), np.arctan2(y - 0.5, x + 1.0) - 0.6
        self.expect(
            0.5 < way / (40 * _DT * _SPEED) < 1.02, f"commanded to drive at {_SPEED} m/s for 2 s, a robot moved {way:.2f} m"
        )
        self.expect(
            abs(aside) < 0.05 and abs(heading - 0.6) < 0.05,
            f"commanded to drive straight ahead, a robot deviated by {aside:.2f} rad",
        )
        robots = driven.backend.world.robots
        speed = np.hypot(robots.world_vx[0, 0], robots.world_vy[0, 0])
        driven.run(1, (_SPEED, 0.0, 0.0))
        moved = np.hypot(*(driven.pose(0)[:2] - (x, y))) / _DT
        self.expect(abs(speed - moved) < 0.05, f"a robot moves at {moved:.2f} m/s, but its record says {speed:.2f} m/s")
        driven.run(20, (0.0, 0.0, 1.0))
        turned = driven.pose(0)[2] - heading
        self.expect(0.4 < turned < 1.02, f"commanded to turn left at 1 rad/s for 1 s, a robot turned by {turned:.2f} rad")
        driven.run(40, (0.0, 0.0, 0.0))
        before = driven.pose(0)
        driven.run(1, (0.0, 0.0, 0.0))
        self.expect(np.allclose(before, driven.pose(0), atol=1e-4), "commanded to stand still for 2 s, a robot still moves")

    def reaches_goals(self) -> None:
        """Check that the next goal becomes current when a goal is reached, and that reaching the last goal ends the episode in the
        same step.
        """
        goals = np.array([[1.0, 0.0, 0.0], [2.5, 0.0, 0.0]])
        driven = self.made([_start(goals=goals)])
        world, goal = driven.backend.world, 0
        for step in range(1, 120):
            driven.run(1, (_SPEED, 0.0, 0.0))
            near = abs(goals[goal, 0] - driven.pose(0)[0]) < 0.3
            arrived, outcome = bool(world.status.goals.arrived[0, 0]), int(world.status.ends.outcome[0, 0])
            self.expect(arrived == (near and goal == 0), f"step {step}: `arrived` is {arrived} at a goal before the last one")
            self.expect(
                (outcome == Outcome.REACHED) == (near and goal == 1), f"step {step}: the outcome is {outcome} at the last goal"
            )
            if outcome == Outcome.REACHED:
                ended = int(world.status.ends.step[0, 0])
                self.expect(
                    ended == step and world.status.clock.done[0],
                    f"the last goal was reached in step {step}, but the record says step {ended}, or the world is not done",
                )
                return
            if near:
                goal = 1
                world.next_goal(0, 0, np.asarray(goals[1], np.float32))
                driven.backend.adopt(0)
        raise self.fail(f"a robot that drives towards its goals for {120 * _DT:g} s does not reach the last one")

    def times_out(self) -> None:
        """Check that the episode of a robot that does not arrive ends at the time limit."""
        driven = self.made([_start(timeout=1.0)])
        driven.run(30, (0.0, 0.0, 0.0))
        ends = driven.backend.world.status.ends
        found = int(ends.outcome[0, 0]), int(ends.step[0, 0])
        self.expect(
            found == (Outcome.TIMEOUT, 20),
            f"a robot that stands still ended with (outcome, step) {found}, expected ({int(Outcome.TIMEOUT)}, 20)",
        )

    def touches_walls(self) -> None:
        """Check that walls stop robots, and that contacts end an episode if the terms require it and are only counted otherwise."""
        for ends in (True, False):
            driven = self.made([_start(place=_BARRIER)], **({} if ends else {"ends": 0}))
            contacts = driven.run(80, (_SPEED, 0.0, 0.0))
            gap = 2.1 - driven.pose(0)[0] - _DISC.radius
            self.expect(-_INTO <= gap <= 2 * _NEAR, f"a robot that drove towards a wall stopped {gap:.2f} m from it")
            self.ended(driven, contacts, ContactKind.WALL, Outcome.WALL_COLLISION if ends else None, (1.8, 0.0))

    def touches_people(self) -> None:
        """Check that contacts with standing people occur at the right position, and name the person."""
        people = replace(_standing([2.4, 0.1]), id=np.array([37], np.int32))
        for ends in (True, False):
            driven = self.made([_start(people=people)], **({} if ends else {"ends": 0}))
            contacts = driven.run(60, (_SPEED, 0.0, 0.0))
            outcome, where = Outcome.PEDESTRIAN_COLLISION if ends else None, (2.4 - np.sqrt(0.6**2 - 0.1**2), 0.0)
            self.ended(driven, contacts, ContactKind.PEDESTRIAN, outcome, where)
            self.expect(contacts[0].party == 37, f"pedestrian 37 was touched, but the contact names {contacts[0].party}")

    def touches_robots(self) -> None:
        """Check that contacts between robots are recorded, and that the robots leave the world if the terms require it."""
        facing = _start(pose=(-1.0, 1.0, 0.0), more=(RobotStart(_DISC, np.array([2.0, 1.0, np.pi]), np.array([[-4.0, 6.0, 0.0]])),))
        driven = self.made([facing], remove=True)
        contacts = driven.run(60, (_SPEED, 0.0, 0.0))
        self.ended(driven, contacts, ContactKind.ROBOT, Outcome.ROBOT_COLLISION, (0.2, 1.0))
        parties = sorted(contact.party for contact in contacts)
        self.expect(parties == [0, 1], f"two robots touched each other, but the contacts name robots {parties}")
        self.expect(
            not driven.backend.world.robots.active[0].any(), "robots whose episode has ended remain, although the terms remove them"
        )

    def ended(
        self, driven: _Driven, contacts: Sequence[Contact], kind: ContactKind, outcome: Outcome | None, where: tuple[float, float]
    ) -> None:
        """Check that only contacts of one kind occurred, at the right position and time, and that they ended the episode only if
        expected.
        """
        kinds = {contact.kind for contact in contacts}
        self.expect(kinds == {kind}, f"a robot that drove towards a {kind.name.lower()} touched {[one.name for one in kinds]}")
        world = driven.backend.world
        found = {int(value) for value in world.status.ends.outcome[0]}
        right = {RUNNING if outcome is None else int(outcome)}
        self.expect(found == right, f"after a contact with a {kind.name.lower()} the outcomes are {found}, not {right}")
        away = float(np.hypot(*(np.array([contacts[0].x, contacts[0].y]) - where)))
        self.expect(away < _NEAR, f"a contact with a {kind.name.lower()} is recorded {away:.2f} m from the point of contact")
        late = driven.noted - contacts[0].time
        self.expect(-1e-6 <= late <= _DT + 1e-6, f"a contact with a {kind.name.lower()} is recorded {late:.2f} s after it happened")

    def adopts(self) -> None:
        """Check that changed records take effect: failed planners, changed positions and abandoned worlds."""
        driven = self.made([_start(), _start(), _start()], ends=0)
        world, backend = driven.backend.world, driven.backend
        driven.run(5, (_SPEED, 0.0, 0.0))
        failed = driven.pose(0)
        world.command(np.full((3, 3), (_SPEED, 0.0, 0.0), np.float32), world.under_way, [0])
        backend.adopt(0)
        world.robots.x[1, 0], world.robots.y[1, 0] = 3.0, 2.0
        backend.adopt(1)
        driven.leave(2)
        left = driven.state(2)
        backend.advance(20, _nothing)
        outcome = int(world.status.ends.outcome[0, 0])
        self.expect(outcome == Outcome.PLANNER_FAILED, f"a robot whose planner failed has the outcome {outcome} afterwards")
        self.expect(np.allclose(driven.pose(0), failed, atol=_NEAR), "a robot whose planner failed still drives")
        x, y, _ = driven.pose(1)
        self.expect(3.0 < x < 4.0 and abs(y - 2.0) < 0.05, f"a robot was put at (3, 2); 1 s later it is at ({x:.2f}, {y:.2f})")
        self.expect(identical(left, driven.state(2)), "a body moves in a finished world")

    def repeats(self) -> None:
        """Check that the same commands give bit-identical results when repeated, after another episode, in a world on its own, and
        with more steps per call.
        """
        starts = crowd()
        first, again, used, long = (self.made(starts, ends=0) for _ in range(4))
        used.run(7, (0.7, 0.0, -0.4))
        for w, start in enumerate(starts):
            used.backend.reset(w, start)
        for driven, steps in ((first, 1), (again, 1), (used, 1), (long, 5)):
            driven.run(30, (0.6, 0.0, 0.5), at_once=steps)
        for w, start in enumerate(starts):
            alone = self.made([start], ends=0)
            alone.run(30, (0.6, 0.0, 0.5))
            for other, where, clause in (
                (again, w, "not deterministic"),
                (used, w, "a reset leaves state from the last episode behind"),
                (long, w, "30 steps in 6 calls differ from 30 steps in 30 calls"),
                (alone, 0, "worlds affect each other: the states in the batch and alone differ"),
            ):
                self.expect(identical(first.state(w), other.state(where)), f"{clause}, in world {w}")

    def nobody(self) -> None:
        """Check that worlds without robots and worlds without people advance normally."""
        driven = self.made([replace(start, robots=()) for start in crowd()])
        driven.backend.advance(2, _nothing)
        self.expect(not driven.backend.world.status.clock.done.any(), "a world without robots is marked as done")
        driven.backend.close()


class _Driven:
    """An engine whose robots are driven, with the contacts that it records.

    Attributes:
        backend: the engine.
        noted: time at the end of the step in which the first contact in world 0 was recorded, s.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.noted = np.nan

    def run(self, steps: int, twist: ArrayLike, at_once: int = 1) -> list[Contact]:
        """Drive every robot with a twist (3,) for a number of steps, ``at_once`` steps per call, and return the contacts in the
        first world.
        """
        world, found = self.backend.world, list[Contact]()
        for _ in range(steps // at_once):
            world.command(np.broadcast_to(np.asarray(twist, np.float32), (world.under_way.size, 3)), world.under_way, ())
            self.backend.advance(at_once, _nothing)
            new = [contact for w, _, contact in take_events(world) if w == 0]
            if new and not found:
                self.noted = float(world.status.clock.step[0]) * _DT
            found += new
        return found

    def leave(self, w: int) -> None:
        """Abandon a world."""
        self.backend.world.status.clock.done[w] = True
        self.backend.adopt(w)

    def pose(self, w: int) -> Array:
        """Return the pose of the first robot of a world, (3,)."""
        robots = self.backend.world.robots
        return np.array([robots.x[w, 0], robots.y[w, 0], robots.heading[w, 0]], float)

    def state(self, w: int) -> tuple[Floats, ...]:
        """Return the state of a world's pedestrians and robots, including the robots' outcomes and the steps at which these were
        decided.
        """
        world = self.backend.world
        count = int(world.traits.count[w])
        people = (field[w, :count].copy() for field in world.pedestrians)
        robots = (field[w].copy() for field in (*world.robots, world.status.ends.outcome, world.status.ends.step))
        return *people, *robots


def _start(
    pose: ArrayLike = (0.0, 0.0, 0.0),
    goals: ArrayLike = ((8.0, 6.0, 0.0),),
    place: Map = _PLAIN,
    people: PedestrianStarts | None = None,
    timeout: float = 60.0,
    more: tuple[RobotStart, ...] = (),
) -> Start:
    """Return the start of an episode with one or more robots."""
    robot = RobotStart(_DISC, np.asarray(pose, float), np.asarray(goals, float))
    return Start("contract/backend/0", 3, place, (robot, *more), people or PedestrianStarts.none(), timeout, goal_tolerance=0.3)


def _standing(place: ArrayLike) -> PedestrianStarts:
    """Return one or more pedestrians who stand still."""
    here = np.asarray(place, float).reshape(1, 2)
    one, whole = np.ones(1), np.ones(1, np.int32)
    return PedestrianStarts(
        position=here,
        speed=one,
        radius=0.3 * one,
        group=-whole,
        id=whole,
        waypoints=here[:, None],
        waypoint_count=whole,
        mode=STAY * whole,
        tolerance=0.3 * one,
        velocity=np.zeros((1, 2)),
    )


def _nothing() -> None:
    """Do nothing after a step."""
