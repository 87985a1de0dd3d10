"""Runs AG-RL with predictions that differ from those in its training: `python benchmarks/foresight.py` (5 minutes).

The registered policy drives the suite attngraph unchanged, and with positions from a predictor or the true positions instead of
constant-velocity predictions. Nothing is trained. In this suite, people do not see the robot, so the true positions are known
before the episode. Differences are between the same episodes, with 95 % intervals from resampling episodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agora.core.recording import Outcome
from agora.core.state import Array, Floats, Ints
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.episode import Episodes
from agora.interfaces import Answer, Memory, Observation, Prediction, PredictorDeclaration
from agora.planners.learned.ag_rl import AgRl
from agora.planners.steering import velocity_to_twist
from agora.policies.joint_state import PERSON, ROBOT
from agora.policies.networks.ag_rl import AgRlNetwork
from agora.registry import make
from agora.reporting.statistics import bootstrap
from agora.tasks.drawn import Drawn
from agora.tasks.suite import load_suite

SUITE, BATCH = "attngraph", 100


@dataclass(frozen=True, eq=False)
class Told(AgRlNetwork):
    """The network, given where people will be.

    Attributes:
        there: (M, 2 (periods + 1)) current and predicted positions that the robot is given.
    """

    there: Array | None = None

    def places(self, persons: Floats) -> Floats:
        """Return the given positions, and radii."""
        assert self.there is not None
        return np.concatenate([self.there, persons[:, 4:5]], 1)


@dataclass(frozen=True)
class Foresight(AgRl):
    """AG-RL that uses a predictor.

    Attributes:
        predictor: predictor of the people's paths.
    """

    predictor: Any = None

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return twists (N, 3), and the memory, which holds the states of the policy and the predictor."""
        o, policy = observation, self.policy
        people = o.pedestrians
        assert people is not None and isinstance(policy.network, AgRlNetwork)
        answer = self.predictor.predict(o, AgRlNetwork.periods, AgRlNetwork.period, memory.get("prediction", {}))
        vectors = policy.see(o)
        seen = vectors[:, ROBOT:].reshape(len(o.pose), -1, PERSON)
        there = [seen[..., :2]]
        for k in range(1, AgRlNetwork.periods + 1):  # as a velocity, so that the frame is that of the observation
            velocity = (answer.position[:, :, k - 1] - people.position) / np.float32(k * AgRlNetwork.period)
            velocity[~people.present] = 0.0
            ways = policy.see(replace(o, pedestrians=replace(people, velocity=velocity)))[:, ROBOT:].reshape(seen.shape)
            there.append(ways[..., :2] + np.float32(k * AgRlNetwork.period) * ways[..., 2:4])
        places = np.concatenate(there, 2)[seen[..., -1] != 0.0]
        told = replace(policy, network=Told(policy.network.width, places))
        actions, state = told.step(vectors, memory.get("state", np.zeros((len(seen), policy.state_size), np.float32)))
        velocity = policy.observe.velocities(actions, o.limits, o.pose, o.goal)
        return Answer(velocity_to_twist(velocity, o, self.turn_gain), {"state": state, "prediction": answer.memory})


@dataclass(frozen=True, eq=False)
class Truth:
    """A predictor that returns the true future positions of people.

    Attributes:
        way: (E, T, P, 2) positions in each episode at each control period, m.
        id: (E, P) identities.
    """

    way: Array
    id: Ints

    declares = PredictorDeclaration()

    def predict(self, observation: Observation, steps: int, dt: float, memory: Memory) -> Prediction:
        """Return the true positions. The memory holds the number of the episode, which is recognised by its first positions, and
        the number of the period.
        """
        people, rows = observation.pedestrians, len(observation.pose)
        assert people is not None
        episode, tick = (memory.get(name, np.zeros(rows, np.int64)).copy() for name in ("episode", "tick"))
        position = np.zeros((*people.present.shape, steps, 2), np.float32)
        for n, q in zip(*np.nonzero(people.present), strict=True):
            if not tick[n]:
                slot = (self.id == people.id[n, q]).argmax(1)
                first = self.way[np.arange(len(slot)), 0, slot]
                episode[n] = np.hypot(*(first - people.position[n, q]).T).argmin()
            here = self.way[episode[n], :, (self.id[episode[n]] == people.id[n, q]).argmax()]
            position[n, q] = here[tick[n] + 1 : tick[n] + 1 + steps]
        return Prediction(position, {"episode": episode, "tick": tick + 1})


def truth_of(stage: str) -> Truth:
    """Return the trajectories of all people in a stage."""
    suite = load_suite(SUITE)
    conditions = replace(Conditions.of(suite.stage(stage)), ends=0, sees_robots=False)
    starts, ways, ids = Drawn(suite, stage), [], []
    periods = round(suite.stage(stage).timeout / conditions.periods.control) + AgRlNetwork.periods + 2
    for first in range(0, len(starts), BATCH):
        some = starts[first : first + BATCH]
        engine = Engine.of(some, conditions, worlds=len(some))
        for world, start in enumerate(some):
            engine.reset(world, start)
        count = int(engine.world.traits.count[0])
        ids.append(engine.world.traits.id[:, :count].copy())
        moments = []
        for _ in range(periods):
            now = engine.world.pedestrians
            moments.append(np.stack((now.x[:, :count], now.y[:, :count]), -1))
            engine.step()
        engine.close()
        ways.append(np.stack(moments, 1))
    return Truth(np.concatenate(ways), np.concatenate(ids))


def reached(planner: AgRl, stage: str) -> Array:
    """Return whether each episode of a stage ends at the goal."""
    suite = load_suite(SUITE)
    played = Episodes(Drawn(suite, stage), planner, Conditions.of(suite.stage(stage)), worlds=64)
    ends = {number: robots[0].outcome == Outcome.REACHED for number, robots in played}
    return np.array([ends[number] for number in sorted(ends)], np.float64)


def main() -> None:
    """Print a line per stage and prediction."""
    print("| stage | prediction | reached | difference from constant velocity | alone, of each |\n| --- | --- | --- | --- | --- |")
    for stage in ("fixed", "randomised"):
        plain = reached(AgRl(), stage)
        print(f"| `{stage}` | constant velocity | {plain.mean():.3f} | | |", flush=True)
        for name in ("goal_directed", "learned_motion", "truth"):
            ours = reached(Foresight(predictor=truth_of(stage) if name == "truth" else make("predictors", name)), stage)
            off = bootstrap(list(ours - plain))
            alone = f"{int((ours > plain).sum())} : {int((plain > ours).sum())}"
            print(
                f"| `{stage}` | {name} | {ours.mean():.3f} | {off.value:+.3f} [{off.low:+.3f}, {off.high:+.3f}] | {alone} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
