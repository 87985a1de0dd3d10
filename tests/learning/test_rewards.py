"""Terms of the reward are CrowdNav's where they have its names, and clearances are those of straight motion between steps."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.engines import engine
from tests.starts import people, start

from agora.core.recording import Outcome
from agora.errors import ComponentError, InputError
from agora.learning.rewards import COLLISIONS, Clearances, Reward, Transition, rewarded
from agora.pedestrians.models.helbing import Helbing
from agora.robots.model import RobotModel
from agora.world.records import RUNNING

FAST = RobotModel(name="fast", kinematics="holonomic", radius=0.2, vx=(-9.0, 9.0), vy=9.0, omega=9.0)


def transition(outcome=RUNNING, progress=0.0, clearance=math.inf, dt=0.25) -> Transition:
    return Transition(np.array([outcome], np.int32), *(np.array([v], np.float32) for v in (progress, clearance)), dt)


def crowdnav(outcome: int, clearance: float, dt: float) -> float:
    """The code's rule (crowd_sim.py): time-out before collision before goal before discomfort."""
    if outcome == Outcome.TIMEOUT:
        return 0.0
    if outcome in COLLISIONS:
        return -0.25
    if outcome == Outcome.REACHED:
        return 1.0
    return (clearance - 0.2) * 0.5 * dt if clearance < 0.2 else 0.0


@pytest.mark.parametrize("outcome", [RUNNING, Outcome.REACHED, Outcome.TIMEOUT, *COLLISIONS])
@pytest.mark.parametrize("clearance", [-0.05, 0.0, 0.13, 0.2, 0.31, math.inf])
def test_without_progress_the_reward_is_crowdnavs(outcome, clearance):
    given = Reward(progress=0.0)(transition(outcome, 0.4, clearance))
    assert given == pytest.approx([crowdnav(outcome, clearance, 0.25)], abs=1e-7)


@pytest.mark.parametrize(
    ("term", "of"),
    [
        ("progress", transition(progress=0.3)),
        ("reached", transition(Outcome.REACHED)),
        ("collision", transition(Outcome.OUT_OF_MAP)),
        ("discomfort", transition(clearance=0.1)),
        ("discomfort_distance", transition(clearance=0.1)),
        ("step", transition()),
    ],
)
def test_every_weight_counts(term, of):
    plain = Reward()
    other = dataclasses.replace(plain, **{term: getattr(plain, term) + 0.7})
    assert other(of)[0] != plain(of)[0]
    assert other(of)[0] == pytest.approx(sum(float(t[0]) for t in other.terms(of).values()), abs=1e-6)


def test_what_makes_no_reward_is_refused():
    with pytest.raises(InputError, match="collision"):
        Reward(collision=math.nan)
    with pytest.raises(InputError, match="discomfort_distance"):
        Reward(discomfort_distance=-0.1)


def test_the_clearance_of_passing_by_is_that_of_the_moment_between_two_steps():
    standing = people([[0.55, 0.8]], [[[0.55, 0.8]]], speed=0.0, radius=0.3)
    made = engine([start(pose=(0, 0, 0), goal=(9, 0, 0), crowd=standing, model=FAST), start(model=FAST)], 0.1)
    clearances = Clearances(made.world)
    made.world.commands[0, 0] = (4.0, 0.0, 0.0)
    made.step()
    clearances.follow()
    assert clearances.values[:, 0] == pytest.approx([math.hypot(0.15, 0.8) - 0.5, math.inf], abs=1e-6)
    made.step()
    clearances.follow()
    assert clearances.values[0, 0] == pytest.approx(0.8 - 0.5, abs=1e-6)
    made.step()
    clearances.follow()
    assert clearances.values[0, 0] == pytest.approx(0.8 - 0.5, abs=1e-6)
    clearances.restart()
    made.step()
    clearances.follow()
    assert clearances.values[0, 0] == pytest.approx(math.hypot(1.2 - 0.55, 0.8) - 0.5, abs=1e-6)


def test_clearances_in_a_crowd_are_those_of_finely_cut_steps(rng):
    starts = []
    for count in (14, 0, 1):
        crowd = people(rng.uniform(-3, 3, (count, 2)), rng.uniform(-3, 3, (count, 2, 2)), radius=0.21) if count else None
        starts.append(start(pose=(*rng.uniform(-1, 1, 2), 1.0), goal=(9, 9, 0), crowd=crowd, model=FAST))
    made = engine(starts, 0.1, crowd=Helbing(), ends=0)
    made.world.pedestrians.active[0, 3] = False
    clearances = Clearances(made.world)
    for _ in range(30):
        made.world.commands[:, 0] = rng.uniform(-2, 2, (3, 3))
        before = [a.astype(float) for a in (*made.world.robots[:2], *made.world.pedestrians[:2])]
        clearances.restart()
        made.step()
        clearances.follow()
        after = [a.astype(float) for a in (*made.world.robots[:2], *made.world.pedestrians[:2])]
        nearest = np.full(3, np.inf)
        for share in np.linspace(0, 1, 401):
            x, y, px, py = (a + share * (b - a) for a, b in zip(before, after, strict=True))
            gap = np.where(made.world.pedestrians.active, np.hypot(px - x, py - y) - 0.41, np.inf)
            nearest = np.minimum(nearest, gap.min(1))
        assert clearances.values[:, 0] == pytest.approx(nearest, abs=2e-5)


@dataclasses.dataclass(frozen=True)
class Says:
    """Returns the same for every transition, or raises it."""

    value: object
    parts: object = dataclasses.field(default_factory=dict)
    asks: tuple[str, ...] = ()

    def __call__(self, given):
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value

    def terms(self, given):
        return self.parts


@pytest.mark.parametrize(
    "wrong",
    [
        *(Says(value) for value in (None, 1.0, "much", np.zeros(2), np.zeros((1, 1)), np.array([1j]), np.array([None]))),
        *(Says(np.array([number])) for number in (np.nan, np.inf, 1e30)),
        *(Says(error("on purpose")) for error in (ValueError, SystemExit, GeneratorExit)),
        *(Says(np.zeros(1), parts) for parts in (None, 3, {"a": "much"}, {"a": np.zeros(2)}, {"a": np.array([np.nan])})),
    ],
    ids=repr,
)
def test_an_impossible_reward_is_an_error_that_names_it_and_no_policy_learns_from_it(wrong):
    with pytest.raises(ComponentError, match=r"^reward Says(: | returned )"):
        rewarded(wrong, transition())


def test_rewards_are_float32_whatever_type_of_number_they_are_given_in():
    rewards, terms = rewarded(Says([2], {"a": np.array([1.0])}), transition())
    assert rewards.dtype == np.float32 and rewards.tolist() == [2.0] and terms["a"].tolist() == [1.0]
