"""move_base's patience: waits, turns and giving up by the clock, as in closed forms, and as a plain twin has them."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.planners.local.driving import limits, look, moved
from tests.planners.local.dwa.twin import under_footprint

from agora.core.recording import Reason
from agora.costmap.window import Window
from agora.errors import InputError
from agora.interfaces import Answer, Declaration
from agora.planners.presets import named_planner
from agora.planners.recovering import Recovering
from agora.registry import Named
from agora.testing import observation

START, GOAL = (1.3, -0.7, 0.6), (5.1, 2.4, -0.9)
DT = 0.05
LONG = Window(size=6.0, footprint=((0.45, 0.1), (-0.45, 0.1), (-0.45, -0.1), (0.45, -0.1)), footprint_padding=0.0)
GO, STAND = Reason.NONE, Reason.BLOCKED


@dataclass(frozen=True)
class Scripted:
    """Says at its k-th call what stands at place k of its row's script, and drives forward where it has a command."""

    script: tuple[tuple[Reason, ...], ...] = ((STAND,),)
    speeds: tuple[float, ...] = (0.4,)
    window: Window = field(default_factory=lambda: LONG)

    @property
    def declares(self):
        return Declaration(needs=("path", self.window), notes=("reason",))

    def act(self, observation, memory):
        calls = memory.get("calls", np.zeros(len(observation.pose), np.int32))
        said = [self.script[n % len(self.script)] for n in range(len(calls))]
        reason = np.array([row[k % len(row)] for row, k in zip(said, calls, strict=True)], np.int8)
        twists = np.zeros((len(calls), 3), np.float32)
        speed = [self.speeds[k % len(self.speeds)] for k in calls]
        twists[:, 0] = np.where((reason == GO) | (reason == Reason.ESCAPING), speed, 0.0)
        return Answer(twists, {"calls": calls + 1}, {"reason": reason})


def recovering(*script, **fields):
    given = {"max_vel_theta": 1.2, "controller_patience": 2.0} | {k: v for k, v in fields.items() if k != "speeds"}
    own = {"speeds": fields["speeds"]} if "speeds" in fields else {}
    return Recovering(Named("scripted", Scripted((script or (STAND,),), **own)), **given)


def played(planner, seconds, discs=(), goal=GOAL, start=START, memory=None, robot=None):
    """Poses before each call, twists, reasons, calls of the local planner; and the memory at the end."""
    pose, twist, memory, kept = tuple(start), (0.0, 0.0, 0.0), memory or {}, []
    for _ in range(round(seconds / DT)):
        seen = look(pose, twist, goal, discs=discs, dt=DT, robot=robot or limits(min_vx=-1.0))
        answer = planner.act(seen, memory)
        twists, memory = answer.twists, answer.memory
        twist = tuple(twists[0].tolist())
        kept.append((pose, twist, int(answer.notes["reason"][0]), int(memory["planner"]["calls"][0])))
        pose = moved(pose, twist, DT)
    poses, twists, reasons, calls = (np.array(column) for column in zip(*kept, strict=True))
    return poses, twists, reasons, calls, memory


def stretches(reasons):
    """Reasons in their order, each with how many periods it lasts."""
    edges = np.flatnonzero(np.diff(reasons)) + 1
    return [(Reason(part[0]), len(part)) for part in np.split(reasons, edges)]


def test_without_a_command_it_waits_its_patience_turns_round_twice_and_gives_up():
    planner = recovering()
    poses, twists, reasons, calls, _ = played(planner, 20.0)
    found = stretches(reasons)
    assert [name.name for name, _ in found] == ["BLOCKED", "RECOVERING", "BLOCKED", "RECOVERING", "BLOCKED", "GAVE_UP"]
    waited, first, again, second = (periods for _, periods in found[:4])
    assert waited == 2.0 / DT + 1  # the first period in which more than the patience is over
    assert again == 1  # nothing was found: the next turn, at once
    most = math.ceil(2 * math.pi / (1.2 * DT)) + 12  # at top rate, with room for speeding up and slowing down
    for begin, periods in ((waited, first), (waited + first + again, second)):
        turned = DT * twists[begin : begin + periods, 2].sum()
        assert 2 * math.pi - planner.yaw_goal_tolerance <= turned <= 2 * math.pi + planner.yaw_goal_tolerance
        assert (2 * math.pi - 0.1) / (1.2 * DT) <= periods <= most
    turning = reasons == Reason.RECOVERING
    assert (twists[turning, 2] > 0).all() and twists[:, 2].max() == pytest.approx(1.2)
    assert (twists[~turning] == 0).all() and np.ptp(poses[:, :2], axis=0).max() < 1e-9
    assert (np.diff(calls) == (~turning & (reasons != Reason.GAVE_UP))[1:]).all()  # meanwhile nobody asks the local planner


def test_near_its_end_a_turn_is_as_slow_as_its_acceleration_asks():
    planner = recovering(max_vel_theta=3.0, acc_lim_theta=0.9, min_in_place_vel_theta=0.2)
    poses, twists, reasons, _, _ = played(planner, 9.0, robot=limits(max_omega=4.0, alpha=50.0))
    (_, before), (_, periods), *_ = stretches(reasons)
    turning = np.arange(before, before + periods)
    begun = poses[turning[0], 2]
    done = np.cumsum(np.concatenate(([0.0], DT * twists[turning[:-1], 2])))
    late = (done > math.pi + 0.2) & (done < 2 * math.pi - 0.05)
    left = 2 * math.pi - done[late]
    assert late.sum() > 5 and abs(math.remainder(begun - START[2], 2 * math.pi)) < 1e-6
    assert twists[turning[late], 2] == pytest.approx(np.clip(np.sqrt(2 * 0.9 * left), 0.2, 3.0), abs=1e-3)


@pytest.mark.parametrize(("aside", "turns"), [(0.62, True), (0.40, False)])
def test_it_turns_only_where_its_outline_has_room_all_the_way_round(aside, turns):
    """The outline reaches 0.46 m at its corners and 0.1 m to its sides: a post at 0.40 m is in nobody's way but a turn's."""
    post = (START[0] - aside * math.sin(START[2]), START[1] + aside * math.cos(START[2]), 0.05)
    _, twists, reasons, _, _ = played(recovering(), 6.0, discs=[post])
    assert bool(twists[:, 2].max() > 0) == turns
    assert (Reason.GAVE_UP in reasons) != turns  # two turns that cannot begin take no time


def test_a_command_gives_all_turns_back_and_backing_up_is_one():
    for command in (GO, Reason.ESCAPING):
        once = (STAND,) * 42 + (command,)  # patience, a turn, nothing, a turn
        _, _, reasons, _, _ = played(recovering(*once), 40.0)
        found = [name for name, _ in stretches(reasons)]
        assert found.count(Reason.RECOVERING) >= 4 and Reason.GAVE_UP not in found


@pytest.mark.parametrize("reason", [Reason.NO_PATH, Reason.START_IN_CONTACT, Reason.NOT_CONVERGED])
def test_every_reason_to_stand_counts_as_no_command(reason):
    _, _, reasons, _, _ = played(recovering(reason), 4.0)
    assert (reasons == Reason.RECOVERING).any()


def test_a_robot_that_sways_in_one_place_is_turned_where_oscillation_has_a_time():
    to_and_fro = (0.3,) * 10 + (-0.3,) * 10
    for timeout, distance, expected in ((3.0, 0.5, True), (0.0, 0.5, False), (3.0, 0.1, False)):
        planner = recovering(GO, oscillation_timeout=timeout, oscillation_distance=distance, speeds=to_and_fro)
        _, twists, reasons, _, _ = played(planner, 30.0)
        assert (Reason.RECOVERING in reasons) is expected
        assert (Reason.GAVE_UP in reasons) is expected  # swaying on is no way out, though every command was one
    planner = recovering(GO, oscillation_timeout=3.0, speeds=to_and_fro)
    _, _, reasons, _, _ = played(planner, 4.0)
    assert stretches(reasons)[0] == (GO, 3.0 / DT + 2)  # more than the timeout is over, and what was planned then is driven


def test_another_goal_begins_anew_after_giving_up():
    planner = recovering()
    _, _, reasons, _, memory = played(planner, 20.0)
    assert reasons[-1] == Reason.GAVE_UP
    _, _, reasons, _, _ = played(planner, 3.0, goal=(0.2, -4.0, 1.1), memory=memory)
    assert stretches(reasons)[:1] == [(STAND, 2.0 / DT + 1)]


def test_a_car_gives_up_without_turning():
    _, twists, reasons, _, _ = played(recovering(), 4.0, robot=limits(turning_radius=0.7))
    assert (twists == 0).all() and reasons[-1] == Reason.GAVE_UP


class Twin:
    """move_base's state machine for one robot, with time stamps, in float64."""

    def __init__(self, planner):
        self.p, self.state, self.goal = planner, "control", None

    def step(self, now, pose, goal, no_command, free):
        """Turning rate, or None where the local planner drives; and whether it has given up."""
        p = self.p
        if self.goal != goal:
            self.goal, self.state, self.index, self.trigger = goal, "control", 0, "planning"
            self.valid, self.moved, self.place = now - DT, now, pose[:2]
        if self.state != "turn" and math.dist(pose[:2], self.place) >= p.oscillation_distance:
            self.moved, self.place = now, pose[:2]
            self.index = 0 if self.trigger == "oscillation" else self.index
        if self.state == "clear":
            self.state = "turn" if self.index < p.rotations else "gave up"
            self.index, self.begun, self.half = self.index + 1, pose[2], False
        if self.state == "gave up":
            return 0.0, True
        if self.state == "turn":
            return self.turn(now, pose, free), False
        if p.oscillation_timeout > 0 and now - self.moved > p.oscillation_timeout + 1e-9:
            self.state, self.trigger = "clear", "oscillation"
        if not no_command:
            self.valid = now
            self.index = 0 if self.trigger == "control" else self.index
        elif now - self.valid > p.controller_patience + 1e-9:
            self.state, self.trigger = "clear", "control"
        else:
            self.state = "control"
        return None, False

    def turn(self, now, pose, free):
        p = self.p
        to_half = abs(math.remainder(self.begun + math.pi - pose[2], 2 * math.pi))
        left = abs(math.remainder(self.begun - pose[2], 2 * math.pi)) if self.half else math.pi + to_half
        over = self.half and left <= p.yaw_goal_tolerance
        self.half = self.half or to_half < p.yaw_goal_tolerance
        rate = min(max(math.sqrt(2 * p.acc_lim_theta * left), p.min_in_place_vel_theta), p.max_vel_theta)
        if not all(free(pose[2] + k * p.sim_granularity) for k in range(math.ceil(left / p.sim_granularity))):
            over, rate = True, 0.0
        if over:
            self.state, self.moved = "control", now + DT
        return rate


def test_the_kernel_does_what_its_plain_twin_does():
    """Rows of one batch, each with a script and a place of its own; in some there is no room to turn."""
    rng = np.random.default_rng(5)
    rows, window = 8, dataclasses.replace(LONG, size=4.2)
    scripts = []
    for _ in range(rows):
        runs = [(Reason(rng.choice([0, 2, 5, 4])),) * int(rng.integers(1, 60)) for _ in range(60)]
        scripts.append(tuple(reason for run in runs for reason in run))
    planner = Recovering(
        Named("scripted", Scripted(tuple(scripts), (0.4, 0.2, -0.1), window)),
        controller_patience=1.5,
        oscillation_timeout=4.0,
        oscillation_distance=0.2,
        acc_lim_theta=3.2,
        max_vel_theta=1.0,
        sim_granularity=0.05,
    )
    seen = observation(rows, seed=3, window=window, corners=4, dt=DT)
    fast = dataclasses.replace(seen.limits, max_alpha=np.full(rows, 99, np.float32), max_omega=np.full(rows, 9, np.float32))
    pose, twins, memory = seen.pose.astype(float), [Twin(planner) for _ in range(rows)], {}
    twists, told = np.zeros((rows, 3), np.float32), set()
    for k in range(600):
        place = np.column_stack((pose[:, :2], np.arctan2(np.sin(pose[:, 2]), np.cos(pose[:, 2])))).astype(np.float32)
        now = dataclasses.replace(seen, pose=place, twist=twists, limits=fast)
        calls = memory["planner"]["calls"] if memory else np.zeros(rows, np.int32)
        answer = planner.act(now, memory)
        twists, memory = answer.twists, answer.memory
        for n in range(rows):
            said = scripts[n][calls[n] % len(scripts[n])]
            corners, cost = np.array(LONG.footprint), (seen.costmap.cost[n], seen.costmap.origin[n].astype(float), 0.05)

            here = tuple(place[n].astype(float))

            def free(heading, corners=corners, cost=cost, here=here):
                return under_footprint(*cost, corners, (*here[:2], heading)) is not None

            rate, gave_up = twins[n].step(k * DT, here, tuple(seen.goal[n]), said in (2, 4), free)
            noted = Reason(answer.notes["reason"][n])
            assert noted == (Reason.GAVE_UP if gave_up else said if rate is None else Reason.RECOVERING)
            assert rate is None or twists[n] == pytest.approx((0.0, 0.0, rate), abs=2e-3)
            assert memory["planner"]["calls"][n] == calls[n] + (rate is None)
            told.add((noted, bool(rate)))
        for n in range(rows):
            pose[n] = moved(pose[n], twists[n].astype(float), DT)
    assert {(Reason.RECOVERING, True), (Reason.RECOVERING, False), (Reason.GAVE_UP, False)} <= told


def test_a_preset_may_stand_for_the_planner_in_another_one_and_on_the_command_line():
    barn = named_planner("recovering_barn")[1].part
    assert barn.planner == named_planner("trajectory_rollout_barn")[1]
    label, named = named_planner("recovering:planner=dwa_barn,rotations=1")
    assert (label, named.part.rotations, named.part.planner) == (
        "recovering:planner=dwa_barn,rotations=1",
        1,
        named_planner("dwa_barn")[1],
    )
    with pytest.raises(InputError, match="dwa_barm"):
        named_planner("recovering:planner=dwa_barm")


def test_a_planner_that_never_says_why_it_stands_is_refused():
    with pytest.raises(InputError, match="go_to_goal"):
        named_planner("recovering:planner=go_to_goal")
