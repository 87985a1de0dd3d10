"""The engine as a simulator: with crowd and navigation beside it, bit by bit the episode loop; and what is done to it by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.starts import DISC, people, plane, start
from tests.suites import planners, stage, write_world

from agora.config import build
from agora.core.recording import ContactKind, Outcome
from agora.core.state import Robots
from agora.draft.stage import Stage
from agora.episode import Batch, Conditions, Episodes
from agora.errors import InputError, UnknownNameError
from agora.node_logic.driver import Entity, PeopleAtStep
from agora.node_logic.one_world import OneWorld
from agora.optics.lidar import Lidar
from agora.robots.model import load_robot
from agora.tasks.suite import Suite
from agora.world.trajectories import Trajectories

SEEING = replace(DISC, lidar=Lidar(beams=61, range_max=30.0))


def overwrite(target, source) -> None:
    for mine, its in zip(target, source, strict=True):
        mine[...] = its


class CrowdPart:
    """The crowd of an episode whose robots are told from outside."""

    def __init__(self, begun, conditions):
        self.batch = Batch([begun], conditions, (), 1)
        self.batch.begin(0, 0)

    def people(self, step) -> PeopleAtStep:
        world = self.batch.world
        return PeopleAtStep(step, world.pedestrians, world.traits, world.minds)

    def step(self, step, robots) -> PeopleAtStep:
        world = self.batch.world
        overwrite(world.robots, robots)
        world.status.ends.outcome[...], world.status.clock.done[...] = -1, False
        self.batch.engine.step()
        return self.people(step + 1)


class NavigationPart:
    """A planner who is told everything from outside."""

    def __init__(self, begun, conditions, planner):
        self.planner, self.memory = planner, {}
        self.batch = Batch([begun], conditions, planner.declares.needs, 1)
        self.batch.begin(0, 0)

    def plan(self, step, robots, crowd, scans, standing):
        batch, world = self.batch, self.batch.world
        for target, source in (
            (world.robots, robots),
            (world.pedestrians, crowd.now),
            (world.traits, crowd.traits),
        ):
            overwrite(target, source)
        overwrite(world.minds, crowd.minds)
        world.status.clock.step[0] = step
        world.status.ends.outcome[0] = [robot.outcome for robot in standing]
        world.status.goals.arrived[0] = [
            robot.goal > now and not robot.ended for robot, now in zip(standing, batch.goals[0], strict=True)
        ]
        batch.next_goals()
        for r, _, ranges, _ in scans:
            if (held := batch.observers.of(r).scans) is not None:
                held.ranges[r] = ranges
        active = batch.active
        answer, failures = batch.observers.ask(self.planner, batch.observers.observe(), self.memory, active)
        self.memory = answer.memory
        return np.where(active[:, None], answer.twists, np.float32(0)), failures


def composed(begun, of, planner):
    """Samples at control rate, how it ended, and contacts, of the three parts together."""
    conditions = Conditions.of(of)
    native, crowd, navigation = OneWorld(), CrowdPart(begun, conditions), NavigationPart(begun, conditions, planner)
    names = [f"robot {r}" for r in range(len(begun.robots))]
    native.begin(begun, of, names, since=2.5)
    samples, contacts, seen, scans = [], [], crowd.people(0), {}
    control = of.periods.steps("control")
    while True:
        step = native.step
        scans.update({reading.robot: reading for reading in native.readings()})
        if step % control == 0 or native.done:
            samples.append((step, sample(native.robots, seen)))
        if native.done:
            break
        if step % control == 0:
            native.command(*navigation.plan(step, native.robots, seen, scans.values(), native.standing()))
        seen = crowd.step(step, native.robots)
        native.set_pedestrians(seen)
        native.advance()
        contacts += native.contacts()
    return samples, native.standing(), contacts


def sample(robots: Robots, seen: PeopleAtStep):
    pose = np.stack([getattr(robots, n)[0] for n in ("x", "y", "heading", "vx", "vy", "omega")], -1)
    where = np.stack([getattr(seen.now, n)[0] for n in ("x", "y", "vx", "vy", "heading")])
    return pose, where, seen.now.active[0].copy(), seen.traits.group[0].copy(), seen.minds.state[0].copy()


def assert_same(begun, of, planner) -> set[Outcome]:
    (_, recordings), *_ = list(Episodes([begun], planner, Conditions.of(of)))
    samples, standing, contacts = composed(begun, of, planner)
    for r, recording in enumerate(recordings):
        assert standing[r].outcome == recording.outcome
        assert standing[r].clipped == recording.clipped
        assert standing[r].failure == recording.failure
        assert standing[r].end_time == recording.time[-1]
        mine = sorted((c for robot, c in contacts if robot == r), key=lambda c: (c.time, c.kind, c.party))
        assert tuple(mine) == recording.contacts
        length, crowd = len(recording.time), begun.crowd_size
        for k, (_, (pose, where, present, group, state)) in enumerate(samples[:length]):
            np.testing.assert_array_equal(np.hstack([recording.pose[k], recording.twist[k]]), pose[r])
            np.testing.assert_array_equal(recording.pedestrian_present[k], present[:crowd])
            here = present[:crowd]
            np.testing.assert_array_equal(recording.pedestrian_position[k][here], where[:2, :crowd].T[here])
            np.testing.assert_array_equal(recording.pedestrian_velocity[k][here], where[2:4, :crowd].T[here])
            np.testing.assert_array_equal(recording.pedestrian_heading[k][here], where[4, :crowd][here])
            np.testing.assert_array_equal(recording.pedestrian_group[k][here], group[:crowd][here])
            if recording.pedestrian_state is not None:
                np.testing.assert_array_equal(recording.pedestrian_state[k][here], state[:crowd][here])
    return {recording.outcome for recording in recordings}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("places") / "room")


MINDS = {"model": "helbing", "behaviours": ["groups", "social_states"]}
STAGES = {
    "minds, two robots with two goals each, removed as they end": {"crowd": MINDS, "after_end": "remove"},
    "periods that rarely meet, a planner on scans": {"periods": {"physics": 0.05, "control": 0.1, "crowd": 0.15, "sensor": 0.2}},
    "a robot that moves sideways among two crowd models, paths made again": {
        "robot": ["ridgeback", "burger"],
        "crowd": {"models": [{"model": "orca"}, {"model": "pedsim", "share": 2.0}], "sees_robots": False},
        "navigation": {"replan": 0.4, "layers": ["personal_space"]},
        "ends": ["wall"],
    },
}


@pytest.mark.parametrize(
    ("what", "planner"),
    zip(STAGES, ("social_force", "dwa_kinetic:sim_time=0.8,vth_samples=5,sim_granularity=0.1", "pure_pursuit"), strict=True),
)
def test_simulator_crowd_and_navigation_apart_are_the_episode_loop_bit_by_bit(world, what, planner):
    made = build({"name": "apart", "seed": 3, "stages": [stage(world, "helbing", 3, 5.0) | STAGES[what]]}, Suite)
    for k in range(3):
        assert_same(made.start("helbing", k), made.stage("helbing"), planners(planner)[planner].part)


def test_recordings_drawn_waypoints_a_late_car_and_a_timeout_apart_are_the_episode_loop_bit_by_bit():
    times = np.array([0.3, 1.1, 2.5, 0.0, 0.7])
    x, y = np.array([-3.0, -1.0, 4.0, 5.0, 1.0]), np.array([2.0, 1.5, 3.0, -2.0, -2.5])
    replay = Trajectories(times, x, y, np.array([0, 3, 5]), np.array([4, 9]), period=np.array([0.0, 0.7]))
    crowd = people([[-2.0, -2.0]], [[[0.0, 1.0], [-2.0, -1.0], [-1.0, -3.0], [-2.5, 0.5]]], mode=1)
    car = replace(load_robot("f1tenth"), command_delay=0.15)
    begun = start(
        pose=(0.1, 0.0, 0.3), goal=[(1.2, 0.3, 0.0), (4.0, 3.0, 0.0)], crowd=crowd, model=car, timeout=2.13,
        replay=replay, replay_phase=np.array([0.0, 0.05]), entry="test/recorded/7",
    )  # fmt: skip
    conditions = {"name": "x", "world": {"name": "open"}, "crowd": {"model": "waypoint"}, "ends": ["wall"]}
    of = build(conditions, Stage, complete=True)
    assert assert_same(begun, of, planners("pure_pursuit")["pure_pursuit"].part) == {Outcome.TIMEOUT}


def alone(**more) -> OneWorld:
    """One robot on a plane without a planner, and nobody else."""
    native, of = OneWorld(), build({"name": "x", "world": {"name": "open"}}, Stage)
    native.begin(start(model=SEEING, **more), of, ["it"], since=3.0)
    return native


def drive(native: OneWorld, seconds: float, *twist: float) -> None:
    for _ in range(round(seconds / native.dt)):
        native.command(np.array([twist or (0.0, 0.0, 0.0)] * len(native.names), np.float32), {})
        native.advance()


def test_before_any_episode_robots_can_be_put_on_an_empty_plane_and_driven_without_an_end():
    native = OneWorld()
    native.spawn(Entity("my robot", "robot", np.array([1.0, -2.0, 0.5]), SEEING))
    drive(native, 2.0, 0.5, 0.0, 0.0)
    assert native.step == 40 and not native.done
    assert native.robots.x[0, 0] == pytest.approx(1.0 + np.cos(0.5), abs=0.05)
    (reading,) = native.readings()
    assert reading.ranges.shape == (61,) and reading.time == pytest.approx(2.0)


def test_pedestrians_go_on_with_their_velocity_until_somebody_says_more_and_stand_after_a_second():
    native = alone(crowd=people([[2.0, 1.0]], [[[9.0, 1.0]]]))
    told = PeopleAtStep.room(1, step=3)
    told.traits.count[0], told.now.active[0, 0] = 1, True
    told.now.x[0, 0], told.now.y[0, 0], told.now.vx[0, 0] = 5.0, 1.0, 2.0
    drive(native, 2 * native.dt)
    native.set_pedestrians(told)
    seen = []
    for _ in range(25):
        drive(native, native.dt)
        seen.append(native._world.pedestrians.x[0, 0])
    assert seen[0] == 5.0  # the generation that it was
    assert seen[1] == pytest.approx(5.0 + 2.0 * native.dt)
    assert seen[10] == pytest.approx(6.0)
    assert seen[24] == pytest.approx(7.0)
    assert native._world.pedestrians.vx[0, 0] == 0.0
    assert told.now.x[0, 0] == 5.0


def test_a_robot_that_came_later_touches_one_that_was_there_and_all_goes_on_as_it_was():
    native = alone(goal=(9.0, 0.0, 0.0), pose=(0.0, 0.0, 0.0))
    drive(native, 1.0, 0.5, 0.0, 0.0)
    before = native.robots.x[0, 0]
    native.spawn(Entity("other", "robot", np.array([before + 0.9, 0.0, 2.0]), SEEING))
    assert native.names == ("it", "other") and native.step == 20
    assert native.robots.x[0, 0] == before and native.robots.vx[0, 0] == np.float32(0.5)
    for _ in range(20):
        native.command(np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]], np.float32), {})
        native.advance()
    assert {(r, c.kind, c.party) for r, c in native.contacts()} == {(0, ContactKind.ROBOT, 1), (1, ContactKind.ROBOT, 0)}
    assert native.touching().tolist() == [True, True]
    assert [s.outcome for s in native.standing()] == [Outcome.ROBOT_COLLISION] * 2 and native.done
    native.delete("other")
    native.set_goal("it", np.array([before + 2.0, 0.0, 0.0]))
    assert not native.done and native.standing()[0].goal == 1
    drive(native, 5.0, 0.5, 0.0, 0.0)
    assert native.standing()[0].outcome == Outcome.REACHED


def test_a_goal_that_is_set_by_hand_is_exact_has_a_number_of_its_own_and_is_the_last_of_the_episode():
    native = alone(goal=[(0.5, 0.0, 0.1), (1.0, 0.2, 0.0), (9.0, 0.0, 0.0)], pose=(0.0, 0.0, 0.0), timeout=8.0)
    drive(native, 1.0, 0.5, 0.0, 0.0)
    assert (native.standing()[0].goal, native.standing()[0].target) == (1, (1.0, 0.2, 0.0))
    place = (0.1 + 0.2, -1.0 / 3.0, 0.7)  # which float32 does not hold
    assert native.set_goal("it", np.array(place)) == 2
    standing = native.standing()[0]
    assert (standing.goal, standing.target, standing.by_hand) == (2, place, 1)
    drive(native, 7.9, 0.0, 0.0, 0.0)
    assert not native.done, "the time limit begins anew"
    native.move("it", np.array([0.3, -0.3, 0.0]))
    drive(native, 0.1)
    assert native.done and native.standing()[0].outcome == Outcome.REACHED and native.standing()[0].goal == 2


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ((60.0, 1.0, 0.0), "goal of it: .* is outside the map"),
        ((3.0, 1.0, 0.4), "from an obstacle, but the robot needs"),
        ((3.0, np.nan, 0.0), "expected three finite numbers"),
        ((3.0, np.inf, 0.0), "expected three finite numbers"),
    ],
)
def test_a_goal_at_which_the_robot_cannot_be_is_refused_and_changes_nothing(goal, words):
    native = alone(goal=(9.0, 0.0, 0.0), pose=(0.0, 0.0, 0.0))
    native.spawn(Entity("a shelf", "obstacle", np.array([3.0, 1.0, 0.3]), furniture="shelf"))
    before = native.standing()[0]
    with pytest.raises(InputError, match=words):
        native.set_goal("it", np.array(goal))
    assert native.standing()[0] == before and before.by_hand == 0


def test_furniture_and_maps_can_come_and_go_while_a_robot_drives():
    native = alone(goal=(9.0, 0.0, 0.0), pose=(0.0, 0.0, 0.0))
    free = native.readings()[0].ranges.min()
    native.spawn(Entity("a shelf", "obstacle", np.array([2.0, 0.0, 0.3]), furniture="shelf"))
    near = native.readings()[0].ranges.min()
    native.move("a shelf", np.array([3.0, 0.0, 0.3]))
    farther = native.readings()[0].ranges.min()
    assert near < 2.0 < near + 1.0 <= farther + 0.2 < free
    native.set_map(plane(30.0))
    assert native.readings()[0].ranges.min() == farther
    native.delete("a shelf")
    assert native.readings()[0].ranges.min() >= free
    native.move("it", np.array([1.0, 2.0, -3.0]))
    assert [native.robots.x[0, 0], native.robots.y[0, 0], native.robots.heading[0, 0]] == [1.0, 2.0, -3.0]


def test_more_pedestrians_than_the_episode_had_find_room():
    native = alone()
    crowd = PeopleAtStep.room(40, step=0)
    crowd.traits.count[0] = 40
    crowd.now.active[0, :40], crowd.now.x[0, :40], crowd.now.y[0, :40] = True, np.arange(40) * 0.2, 3.0
    native.set_pedestrians(crowd)
    assert native._world.pedestrians.active[0].sum() == 40
    drive(native, native.dt)
    assert native._world.pedestrians.active[0].sum() == 40 and native.step == 1


def test_names_that_are_taken_or_unknown_are_refused_with_the_nearest():
    native = alone()
    with pytest.raises(InputError, match="already"):
        native.spawn(Entity("it", "robot", np.zeros(3), SEEING))
    with pytest.raises(UnknownNameError, match="did you mean 'it'"):
        native.move("itt", np.zeros(3))
    with pytest.raises(UnknownNameError, match="furniture model"):
        native.spawn(Entity("x", "obstacle", np.zeros(3), furniture="shelff"))
    assert native.names == ("it",)


def test_a_planner_that_failed_ends_its_robot_with_what_it_said():
    native = alone()
    native.command(np.zeros((1, 3), np.float32), {0: "it raised KeyError"})
    assert native.done
    standing = native.standing()[0]
    assert (standing.outcome, standing.failure, standing.end_time) == (Outcome.PLANNER_FAILED, "it raised KeyError", 0.0)
