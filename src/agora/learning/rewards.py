"""A reward that is a weighted sum of named terms; terms and clearances that other rewards can use too.

To write a new reward, see `agora.interfaces.reward`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agora.core.answers import blame, numbers
from agora.core.jit import bind, lean_kernel
from agora.core.recording import Outcome
from agora.core.scalar import ONE, ZERO, F
from agora.core.state import Floats
from agora.interfaces import Rewarding, Transition
from agora.ranges import Checked, NotNegative
from agora.world.records import RUNNING

if TYPE_CHECKING:
    from agora.world.world import World

__all__ = ["Reward"]

COLLISIONS = (Outcome.PEDESTRIAN_COLLISION, Outcome.WALL_COLLISION, Outcome.ROBOT_COLLISION, Outcome.OUT_OF_MAP)
_COLLIDED = np.zeros(max(Outcome) + 2, np.float32)  # indexed by outcome; the last entry is for RUNNING
_COLLIDED[list(COLLISIONS)] = ONE
_REACHED = int(Outcome.REACHED)
_NOBODY = F(np.inf)


@dataclass(frozen=True)
class Reward(Checked):
    """A weighted sum of terms; the defaults of ``reached``, ``collision`` and both discomfort fields are taken from the CrowdNav
    code.

    Attributes:
        progress: reward per metre of straight-line progress towards the goal.
        reached: reward for reaching the last goal.
        collision: reward if the episode ends with a contact or outside the map.
        discomfort: reward per second and per metre by which the clearance is below ``discomfort_distance``.
        discomfort_distance: clearance to the nearest pedestrian below which there is discomfort, m.
        step: reward for every control period.
        foreseen: reward for being at a position that a pedestrian moving at constant velocity will reach k control periods later, k
            from 1 to 5. The reward is this value divided by 2^(k + 1) for the smallest such k (S. Liu et al., ICRA 2023, equation
            3; -20 in the authors' code).
        way: reward per metre of progress along the robot's path.
    """

    progress: float = 0.1
    reached: float = 1.0
    collision: float = -0.25
    discomfort: float = -0.5
    discomfort_distance: NotNegative = 0.2
    step: float = 0.0
    foreseen: float = 0.0
    way: float = 0.0

    @property
    def asks(self) -> frozenset[str]:
        """Names of the facts that the terms with a nonzero weight need."""
        return frozenset(name for name in ("foreseen", "way") if getattr(self, name))

    def terms(self, transition: Transition) -> dict[str, Floats]:
        """Return the weighted terms (N,) by name."""
        terms = {
            "progress": transition.progress * F(self.progress),
            "reached": reached(transition) * F(self.reached),
            "collision": collision(transition) * F(self.collision),
            "discomfort": discomfort(transition, self.discomfort_distance) * F(self.discomfort),
            "step": np.full(len(transition.outcome), self.step, np.float32),
        }
        if self.foreseen:
            terms["foreseen"] = F(self.foreseen) * np.exp2(-ONE - transition.facts["foreseen"])
        if self.way:
            terms["way"] = F(self.way) * transition.facts["way"]
        return terms

    def __call__(self, transition: Transition) -> Floats:
        """Return the rewards (N,)."""
        return added(self.terms(transition))


def added(terms: Mapping[str, Floats]) -> Floats:
    """Return the sum (N,) of terms, added in their order."""
    first, *others = terms.values()
    total = np.zeros(len(first), np.float32)
    for term in (first, *others):
        total += term
    return total


def rewarded(reward: Rewarding, transition: Transition) -> tuple[Floats, dict[str, Floats]]:
    """Return the rewards (N,) of a transition, and their terms (N,) by name.

    Raises:
        ComponentError: the reward raised, or returned something other than finite numbers (N,).
    """
    who, shape = f"reward {type(reward).__name__}", transition.outcome.shape
    with blame(who):
        values, terms = reward(transition), dict(reward.terms(transition))
    checked = {name: numbers(who, f"term {name!r}", term, shape) for name, term in terms.items()}
    return numbers(who, "rewards", values, shape).astype(np.float32, copy=False), checked


def reached(transition: Transition) -> Floats:
    """Return 1 for robots that reached their last goal, else 0."""
    there: Floats = (transition.outcome == _REACHED).astype(np.float32)
    return there


def collision(transition: Transition) -> Floats:
    """Return 1 for robots whose episode ended with a contact or outside the map, else 0."""
    hit: Floats = _COLLIDED[transition.outcome]
    return hit


def discomfort(transition: Transition, distance: float) -> Floats:
    """Return the amount by which the clearance is below a distance, multiplied by the control period, m s; 0 if the episode ends
    (as in CrowdNav).
    """
    lack: Floats = np.maximum(F(distance) - transition.clearance, ZERO) * F(transition.dt)
    lack *= transition.outcome == RUNNING
    return lack


class Clearances:
    """Minimum clearance between each robot and the pedestrians of its world over several steps.

    Between two steps, everyone is assumed to move in a straight line (CrowdNav's swept test). The robot is represented by the disc
    around its footprint.

    Args:
        world: the worlds.

    Attributes:
        values: (W, R) clearances, m; infinite if there are no pedestrians.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.values = np.full((world.layout.worlds, world.layout.robots), _NOBODY, np.float32)
        shared = (world.robot_traits, world.traits, self.values)
        people, robots = zip(*map(world.generation, (0, 1)), strict=True)
        self._bound = [bind(_follow, robots[1 - g], robots[g], people[1 - g], people[g], *shared) for g in (0, 1)]

    def restart(self) -> None:
        """Discard all previous steps."""
        self.values[...] = _NOBODY

    def follow(self) -> None:
        """Include the most recent step."""
        self._bound[self._world.now](0, self._world.layout.worlds)


@lean_kernel
def _follow(robots_before, robots, people_before, people, robot_traits, traits, values, first, last):
    """For worlds ``first <= w < last``, update the minimum clearances with the step between two states."""
    for w in range(first, last):
        for r in range(values.shape[1]):
            x, y = robots_before.x[w, r], robots_before.y[w, r]
            dx, dy = robots.x[w, r] - x, robots.y[w, r] - y
            for i in range(traits.count[w]):
                if not people.active[w, i]:
                    continue
                here = people_before if people_before.active[w, i] else people
                bodies = robot_traits.radius[w, r] + traits.radius[w, i]
                ox, oy = x - here.x[w, i], y - here.y[w, i]
                ex, ey = dx - (people.x[w, i] - here.x[w, i]), dy - (people.y[w, i] - here.y[w, i])
                reach = values[w, r] + bodies + abs(ex) + abs(ey)
                if ox * ox + oy * oy > reach * reach:
                    continue
                length2 = ex * ex + ey * ey
                share = min(max(-(ox * ex + oy * ey) / length2, ZERO), ONE) if length2 > ZERO else ZERO
                nx, ny = ox + share * ex, oy + share * ey
                values[w, r] = min(values[w, r], math.sqrt(nx * nx + ny * ny) - bodies)
