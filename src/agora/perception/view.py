"""A limited field of view: the true states of people in a cone ahead, and the assumed states of people who have left it.

This is the field of view of DS-RNN's "FoV environment": S. Liu, P. Chang, W. Liang, N. Chakraborty, K. Driggs-Campbell,
"Decentralized structural-RNN for robot crowd navigation with deep reinforcement learning", ICRA 2021, and its code
(Shuijing725/CrowdNav_DSRNN, ``crowd_sim.py``: ``detect_visible``, ``update_last_human_states``). The range is AG-RL's: S. Liu et
al., ICRA 2023, CrowdNav_Prediction_AttnGraph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.scalar import ZERO, F, sincos
from agora.core.state import HOLONOMIC, Bools, Doubles, Floats
from agora.ranges import Length, Within

__all__ = ["View"]

STANDING = F(0.01)
"""Speed below which a robot counts as stationary, without a direction of motion, m/s."""

_WHOLE = 6.283


@dataclass(frozen=True)
class View:
    """The cone in which a robot sees pedestrians, without occlusion.

    A holonomic robot looks in its direction of motion or, while it stands still, in its last direction of motion. Before it has
    moved, and for all other robots, the viewing direction is the heading. A pedestrian that has left the cone is assumed to
    continue straight at the last observed velocity until it is seen again. A pedestrian that was never in the cone is unknown. A
    pedestrian that has left the world is forgotten.

    Attributes:
        angle: full opening angle of the cone, rad; 6.283 or more covers all directions.
        range: maximum gap between the outlines of robot and pedestrian, m; None for unlimited range.
    """

    angle: Annotated[float, Within(0.0, 6.2832, above=True)] = math.tau
    range: Length | None = 5.0

    def cone(self) -> Cone:
        """Return the cone as a record for the kernel."""
        cosine = -2.0 if self.angle >= _WHOLE else math.cos(0.5 * self.angle)
        return Cone(F(cosine), F(math.inf if self.range is None else self.range))


class Cone(NamedTuple):
    """Cosine of half the opening angle (-2 for all directions), and range, m."""

    cosine: np.float32
    range: np.float32


class Belief(NamedTuple):
    """The memory of N robots about Q pedestrians.

    Attributes:
        begun: (N,) whether the robot's viewing direction is set.
        ahead: (N, 2) viewing direction, a unit vector.
        known: (N, Q) whether the robot has seen the pedestrian.
        when: (N, Q) time of the last sighting, s; ``place`` (N, Q, 2) is the position at that time, m.
    """

    begun: Bools
    ahead: Floats
    known: Bools
    when: Doubles
    place: Floats

    @staticmethod
    def room(rows: int, slots: int) -> Belief:
        """Return an empty memory, for robots that have not seen anyone yet."""
        known, ahead = np.zeros((rows, slots), np.bool_), np.zeros((rows, 2), np.float32)
        return Belief(np.zeros(rows, np.bool_), ahead, known, np.zeros(known.shape), np.zeros((*known.shape, 2), np.float32))

    def forget(self, row: int) -> None:
        """Clear the memory of a row at the start of an episode."""
        self.begun[row] = self.known[row] = False


@lean_kernel
def watch(
    cone, people, traits, minds, robots, models, time, belief, position, velocity, radius, present, id_, group, kind, first, last
):
    """Write the pedestrians known to the robots of worlds ``first <= w < last``, and their assumed positions; N = W R rows.

    Args:
        cone: `Cone`.
        people: pedestrians of W worlds.
        traits: traits of the pedestrians.
        minds: minds of the pedestrians.
        robots: robots of W worlds.
        models: traits of the robots.
        time: (N,) times, s.
        belief: `Belief`, updated in place.
        position: ``position`` in `Tracks`, out.
        velocity: ``velocity`` in `Tracks`, out.
        radius: ``radius`` in `Tracks`, out.
        present: ``present`` in `Tracks`, out.
        id_: ``id`` in `Tracks`, out.
        group: ``group`` in `Tracks`, out.
        kind: ``type`` in `Tracks`, out.
        first: first world.
        last: one more than the last world.
    """
    count = robots.x.shape[1]
    for w in range(first, last):
        for r in range(count):
            n = w * count + r
            vx, vy = robots.world_vx[w, r], robots.world_vy[w, r]
            speed = math.sqrt(vx * vx + vy * vy)
            if models.kinematics[w, r] == HOLONOMIC and speed > STANDING:
                belief.ahead[n, 0], belief.ahead[n, 1] = vx / speed, vy / speed
            elif models.kinematics[w, r] != HOLONOMIC or not belief.begun[n]:
                sine, cosine = sincos(robots.heading[w, r])
                belief.ahead[n, 0], belief.ahead[n, 1] = cosine, sine
            belief.begun[n] = True
            for i in range(people.x.shape[1]):
                there = people.active[w, i]
                known = belief.known[n, i] and there and id_[n, i] == traits.id[w, i]
                x, y = people.x[w, i] - robots.x[w, r], people.y[w, i] - robots.y[w, r]
                away = math.sqrt(x * x + y * y)
                within = away - models.radius[w, r] - traits.radius[w, i] <= cone.range
                ahead = x * belief.ahead[n, 0] + y * belief.ahead[n, 1] >= cone.cosine * away
                if there and within and ahead:
                    known = True
                    belief.when[n, i] = time[n]
                    belief.place[n, i, 0], belief.place[n, i, 1] = people.x[w, i], people.y[w, i]
                    velocity[n, i, 0], velocity[n, i, 1] = people.vx[w, i], people.vy[w, i]
                    radius[n, i], id_[n, i] = traits.radius[w, i], traits.id[w, i]
                    group[n, i], kind[n, i] = traits.group[w, i], minds.type[w, i]
                age = max(F(time[n] - belief.when[n, i]), ZERO)
                position[n, i, 0] = belief.place[n, i, 0] + age * velocity[n, i, 0]
                position[n, i, 1] = belief.place[n, i, 1] + age * velocity[n, i, 1]
                belief.known[n, i] = present[n, i] = known
