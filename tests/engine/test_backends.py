"""The loop, the environments and the simulator node run on engines that are not the library's."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.distant_engine import Distant
from tests.learning.suites import suite
from tests.plain_engine import Plain
from tests.starts import DISC, people, start

from agora.core.recording import Contact, ContactKind, Outcome, Recording
from agora.draft.periods import Periods
from agora.engine.backends import backend_of
from agora.engine.engine import Engine
from agora.engine.undisturbed import walk_undisturbed
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import Answer, Declaration
from agora.learning.env import AgoraVectorEnv
from agora.maps.grid import Map
from agora.metrics.registered import metrics
from agora.node_logic.driver import Entity, PeopleAtStep
from agora.node_logic.one_world import OneWorld
from agora.optics.lidar import Lidar
from agora.pedestrians.models.helbing import Helbing
from agora.planners.local.go_to_goal import GoToGoal
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.simulators.native import Native
from agora.world.trajectories import Trajectories

PERIODS = Periods(0.05, 0.1, 0.1, 0.1)
SEEING = replace(DISC, lidar=Lidar(beams=361, range_max=30.0))
BARRIER = Map.from_shapes(segments=[[3.0, -4.1, 3.0, 9.9]], bounds=(-7.3, -4.1, 12.7, 9.9), resolution=0.05, name="barrier")


def recorded(starts, simulator, planner=None, **more: Any) -> dict[int, list[Recording]]:
    """Recordings of the starts in an engine, by number."""
    given = {name: more.pop(name) for name in ("worlds", "record") if name in more}
    return dict(Episodes(starts, planner or GoToGoal(), Conditions(PERIODS, simulator=simulator, **more), **given))


def alone(simulator, planner=None, *, record=(), **given: Any) -> Recording:
    """The recording of one robot in an engine, whose contacts are counted."""
    return recorded([start(**given)], simulator, planner, ends=0, record=record)[0][0]


def plainly(value: Any) -> Any:
    """A recording as what can be compared, without times that were taken."""
    fields = {
        field.name: getattr(value, field.name)
        for field in dataclasses.fields(value)
        if field.name not in ("planning_time", "asked_again", "map")
    }
    return {name: one.tobytes() if isinstance(one, np.ndarray) else repr(one) for name, one in fields.items()}


@dataclass(frozen=True)
class Fails:
    """A planner that goes straight ahead, and fails in the first row when its episode is one second old."""

    declares = Declaration()

    def act(self, observation, memory):
        twists = np.tile(np.float32([0.7, 0.0, 0.0]), (len(observation.pose), 1))
        step = np.asarray(memory.get("step", np.zeros(len(twists), np.int64)))
        twists[(step == 10) & (np.arange(len(twists)) == 0)] = np.nan
        return Answer(twists, {"step": step + 1})


def test_a_straight_drive_in_the_plain_engine_takes_distance_over_speed():
    ahead = 6.0 * np.array([math.cos(0.3), math.sin(0.3)])
    one = recorded([start(goal=(*ahead, 0.3), goal_tolerance=0.3)], Plain())[0][0]
    assert one.outcome is Outcome.REACHED
    assert one.time[-1] == pytest.approx((6.0 - 0.3) / 1.0, abs=0.05)
    assert one.pose[20, :2] == pytest.approx(ahead / 3, abs=1e-4)
    assert one.twist[1:-1] == pytest.approx(np.tile([1.0, 0.0, 0.0], (len(one.time) - 2, 1)), abs=1e-4)


def test_a_wall_is_touched_in_the_plain_engine_when_the_gap_is_driven():
    one = recorded([start(pose=(0.0, 0.5, 0.0), goal=(8.0, 0.5, 0.0), place=BARRIER)], Plain())[0][0]
    assert one.outcome is Outcome.WALL_COLLISION
    (contact,) = one.contacts
    assert (contact.kind, contact.party) == (ContactKind.WALL, -1)
    assert contact.time == pytest.approx(3.0 - DISC.radius, abs=0.05)
    assert (contact.x, contact.y) == pytest.approx((3.0 - DISC.radius, 0.5), abs=0.05)
    assert contact.closing is None


def test_somebody_who_comes_the_other_way_in_the_plain_engine_is_met_where_both_speeds_say():
    comes = people([[7.0, 0.2]], [[[-6.0, 0.2]]], speed=1.5, radius=0.3)
    one = alone(Plain(), pose=(0.0, 0.2, 0.0), goal=(9.0, 0.2, 0.0), crowd=comes)
    (contact,) = one.contacts
    assert (contact.kind, contact.party) == (ContactKind.PEDESTRIAN, 11)
    assert contact.time == pytest.approx((7.0 - 0.55) / 2.5, abs=1e-3)
    assert contact.closing is not None
    assert (contact.closing.robot, contact.closing.party) == pytest.approx((1.0, 1.5), abs=1e-3)
    assert one.outcome is Outcome.REACHED
    slow = recorded([start(pose=(0.0, 0.2, 0.0), goal=(9.0, 0.2, 0.0), crowd=comes)], Plain(hurry=0.0))[0][0]
    assert slow.outcome is Outcome.PEDESTRIAN_COLLISION
    assert slow.time[-1] == pytest.approx(7.0 - 0.55, abs=0.05)


def test_robots_of_the_plain_engine_see_its_walls_and_its_people_with_the_librarys_sensors():
    stands = people([[0.0, 4.5]], [[[0.0, 4.5]]])
    one = alone(Plain(), model=SEEING, pose=(0.0, 0.5, 0.0), goal=(2.0, 0.5, 0.0), place=BARRIER, crowd=stands, record=("scan",))
    scan, bearing = one.sensors["scan"]["ranges"], np.degrees(SEEING.lidar.angles)
    ahead, left = (int(np.argmin(np.abs(bearing - angle))) for angle in (0.0, 90.0))
    assert scan[0, ahead] == pytest.approx(3.0, abs=0.03)
    assert scan[10, ahead] == pytest.approx(3.0 - one.pose[10, 0], abs=0.03)
    assert scan[0, left] == pytest.approx(4.0 - 0.3, abs=0.03)


def test_an_episode_of_the_plain_engine_is_the_same_alone_and_among_others():
    comes = people([[6.0, 2.1], [3.0, -1.0]], [[[-4.0, 0.2]], [[3.0, 5.0]]])
    starts = [
        start(pose=(0.3 * k, -0.4 * k, 0.7 * k), goal=[[3.0, 1.0 + k, 0.0], [5.0, -1.0, 0.0]], crowd=None if k == 1 else comes)
        for k in range(3)
    ]
    together = recorded(starts, Plain())
    two = recorded(starts, Plain(), worlds=2)
    for k, one in enumerate(starts):
        assert plainly(recorded([one], Plain())[0][0]) == plainly(together[k][0]) == plainly(two[k][0])
    assert {together[k][0].outcome for k in together} <= {Outcome.REACHED, Outcome.PEDESTRIAN_COLLISION}


def test_every_metric_takes_a_recording_of_the_plain_engine():
    comes = people([[7.0, 1.6]], [[[-6.0, 1.6]]])
    one = alone(Plain(), pose=(0.0, 0.2, 0.0), goal=(6.0, 0.2, 0.0), crowd=comes)
    values = {metric.name: metric(one) for metric in metrics()}
    assert values["success"] == 1.0
    assert values["time_to_goal"] == pytest.approx(5.7, abs=0.1)
    assert values["path_length"] == pytest.approx(5.7, abs=0.1)
    assert values["collisions"] == 0.0
    assert values["closest_pedestrian_distance_min"] == pytest.approx(1.4 - 0.55, abs=0.02)


CROWD = people([[4.0, 0.6], [6.0, 2.0], [1.0, 5.0]], [[[-3.0, 0.4]], [[-3.0, 1.0]], [[1.5, -3.0]]])
BUSY = [
    start(
        pose=(0.0, 0.3 * k, 0.2),
        goal=[[2.0, 0.5 + k, 0.0], [5.0, 1.0, 0.0]],
        crowd=CROWD,
        place=BARRIER if k == 2 else None,
        timeout=9.0,
    )
    for k in range(4)
]
"""Episodes with two goals, somebody who reacts, a wall, and more of them than worlds."""


@pytest.mark.parametrize(
    ("planner", "ends"),
    [
        (GoToGoal(), {Outcome.PEDESTRIAN_COLLISION, Outcome.WALL_COLLISION, Outcome.REACHED}),
        (named_planner("orca")[1].part, {Outcome.REACHED, Outcome.TIMEOUT}),
        (Fails(), {Outcome.PLANNER_FAILED, Outcome.WALL_COLLISION}),
    ],
    ids=("go_to_goal", "orca", "fails"),
)
@pytest.mark.parametrize("each", [True, False])
def test_an_engine_whose_state_is_elsewhere_gives_the_same_episodes_to_the_bit(planner, ends, each):
    conditions = {"crowd": Helbing(), "worlds": 3, "careful": True}
    near, far = (recorded(BUSY, simulator, planner, **conditions) for simulator in (Native(), Distant(each)))
    assert {k: [plainly(one) for one in own] for k, own in near.items()} == {
        k: [plainly(one) for one in own] for k, own in far.items()
    }
    assert {own[0].outcome for own in near.values()} >= ends


def test_where_people_would_have_walked_without_robots_is_asked_of_the_same_engine():
    ends = [2.35, 1.0]
    near, far = (walk_undisturbed(BUSY[:2], Conditions(PERIODS, Helbing(), simulator=one), ends) for one in (Native(), Distant()))
    assert all(np.array_equal(one, other) for one, other in zip(near, far, strict=True))
    straight = walk_undisturbed(BUSY[:1], Conditions(PERIODS, Helbing(), simulator=Plain()), [2.0])[0]
    way = np.array([-7.0, -0.2])
    assert straight[-1, 0] == pytest.approx([4.0, 0.6] + 2.0 * way / np.hypot(*way), abs=1e-3)


def environment(simulator, **stage: Any) -> AgoraVectorEnv:
    """Two worlds of a small suite in an engine."""
    place = Named.of("worlds", "open", width=14.0, height=9.0, x=-3.0, y=2.0)
    return AgoraVectorEnv(suite(world=place, goals=2, **stage), "walk", 2, simulator=Named("another", simulator))


def steps(env: AgoraVectorEnv, count: int) -> list[Any]:
    """All that an environment says in some steps, in which robots drive in curves and one of them fails."""
    said = [env.reset()[0]]
    for k in range(count):
        actions = np.array([[0.9, 0.3 * np.sin(k)], [0.6, np.nan if k == 30 else -0.2]], np.float32)
        observations, rewards, terminated, truncated, infos = env.step(actions)
        said += [observations, rewards, terminated, truncated, infos.get("entry", np.zeros(2))]
    env.close()
    return said


def test_environments_step_an_engine_whose_state_is_elsewhere_as_the_librarys():
    near, far = (steps(environment(simulator, timeout=2.4), 150) for simulator in (Native(), Distant()))
    assert all(np.array_equal(one, other) for one, other in zip(near, far, strict=True))
    assert sum(int(done.sum()) for done in near[3::5]) > 2


def test_an_environment_in_the_plain_engine_brings_robots_nearer_as_fast_as_they_drive():
    env = environment(Plain(), dynamic=0)
    env.reset()
    part = env._parts[0]
    for _ in range(40):
        before = np.stack([part.batch.world.robots.x, part.batch.world.robots.y]).copy()
        env.step(np.tile(np.float32([1.0, 0.0]), (2, 1)))
        moved = np.hypot(*(np.stack([part.batch.world.robots.x, part.batch.world.robots.y]) - before))
        if (part.batch.world.status.clock.step > 5).all():
            top = float(part.batch.world.robot_traits.max_vx[0, 0])
            assert (np.isclose(moved, top * env.period, atol=1e-4) | (moved < top * env.period)).all()
    env.close()


def played(simulator) -> tuple[list[np.ndarray], list[Contact], OneWorld]:
    """A robot of the simulator node that is moved, joined, sent on and told where people are."""
    node = OneWorld(Named("another", simulator))
    begun = start(pose=(0.0, 0.0, 0.0), goal=(2.0, 0.0, 0.0), model=SEEING)
    node.begin(begun, suite().stages[0], ["it"], since=1.0)
    where, contacts = [], []

    def drive(count: int, **twists: tuple[float, float, float]) -> None:
        for _ in range(count):
            node.command(np.float32([twists.get(name, (0.0, 0.0, 0.0)) for name in node.names]), {})
            node.advance()
            where.append(np.stack([*node.robots[:3]]).copy())
            contacts.extend(contact for _, contact in node.contacts())

    drive(12, it=(0.5, 0.0, 0.2))
    node.move("it", np.array([0.0, 0.5, 0.0]))
    drive(10, it=(0.5, 0.0, 0.0))
    crowd = PeopleAtStep.room(1, step=node.step)
    crowd.traits.count[0], crowd.traits.id[0, 0], crowd.now.active[0, 0] = 1, 23, True
    crowd.now.x[0, 0], crowd.now.y[0, 0], crowd.now.vx[0, 0] = 1.6, 0.5, -0.4
    node.set_pedestrians(crowd)
    drive(40, it=(0.6, 0.0, 0.0))
    assert node.done
    assert node.standing()[0].outcome == Outcome.PEDESTRIAN_COLLISION
    crowd.now.active[0, 0] = False
    node.set_pedestrians(replace(crowd, step=node.step))
    node.set_goal("it", np.array([node.robots.x[0, 0] + 1.0, 0.5, 0.0]))
    node.spawn(Entity("other", "robot", np.array([5.0, 3.0, 2.0]), SEEING))
    drive(40, it=(0.6, 0.0, 0.0), other=(0.3, 0.0, 0.0))
    return where, contacts, node


def test_the_simulator_node_drives_an_engine_whose_state_is_elsewhere_as_the_librarys():
    (near, touched, one), (far, contacts, other) = (played(simulator) for simulator in (Native(), Distant()))
    assert len(near) == len(far)
    assert all(np.array_equal(mine, its) for mine, its in zip(near, far, strict=True))
    assert touched == contacts
    assert one.standing() == other.standing()


def test_the_simulator_node_drives_the_plain_engine_among_people_from_outside():
    where, contacts, node = played(Plain())
    (contact,) = contacts
    assert (contact.kind, contact.party) == (ContactKind.PEDESTRIAN, 23)
    assert contact.time == pytest.approx(1.1 + (1.6 - 0.25 - 0.25 - 0.3) / 1.0, abs=0.02)
    assert where[21][0, 0, 0] == pytest.approx(0.25, abs=1e-5)
    standing, other = node.standing()
    assert standing.outcome == Outcome.REACHED
    assert not other.ended


def test_an_engine_is_made_where_its_simulator_says_and_the_librarys_elsewhere():
    starts = [start()]
    assert isinstance(backend_of(starts, Conditions()), Engine)
    assert type(backend_of(starts, Conditions(simulator=Plain()))).__name__ == "PlainEngine"
    with pytest.raises(InputError, match="simulator Plain has its own engine, but the library's engine is needed"):
        Engine.of(starts, Conditions(simulator=Plain()))


def test_what_an_engine_does_not_keep_is_said_when_the_episode_begins():
    walk = Trajectories.of_rows(np.array([0.0, 0.4]), np.array([3, 3]), np.array([0.0, 0.1]), np.array([1.0, 1.0]))
    with pytest.raises(InputError, match="test/stage/0: the simulator 'plain' has neither recorded people nor doors"):
        recorded([replace(start(), replay=walk)], Plain())
