"""The engine steps as it says, contacts end episodes as the rules say, and worlds do not know of each other."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.engines import engine
from tests.starts import DISC, people, plane, start

from agora.core.recording import Outcome
from agora.engine.engine import Engine
from agora.errors import ComponentError, InputError
from agora.interfaces import CrowdDeclaration
from agora.maps.grid import Map
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.waypoint import Waypoint
from agora.robots.model import RobotModel
from agora.simulators.native import Native
from agora.world.records import END_PEDESTRIAN, RUNNING
from agora.world.start import RobotStart
from agora.world.trajectories import Trajectories
from agora.world.world import Layout

DT = 0.05


def drive(made: Engine, steps: int, twist=(1.0, 0.0, 0.0)) -> Engine:
    made.world.commands[...] = twist
    for _ in range(steps):
        made.step()
    return made


def test_a_robot_drives_where_it_is_told():
    made = drive(engine([start(pose=(1.0, -2.0, math.pi / 3))]), 40)
    robots = made.world.robots
    assert (robots.x[0, 0], robots.y[0, 0]) == pytest.approx((1.0 + 2 * 0.5, -2.0 + 2 * math.sqrt(0.75)), abs=1e-4)
    assert (robots.world_vx[0, 0], robots.world_vy[0, 0]) == pytest.approx((0.5, math.sqrt(0.75)), abs=1e-5)
    assert made.world.status.clock.step[0] == 40


def test_a_command_takes_effect_after_its_delay():
    late = dataclasses.replace(DISC, command_delay=0.2)
    made = drive(engine([start(pose=(0, 0, 0), model=late)]), 10)
    assert made.world.robots.x[0, 0] == pytest.approx((10 - 4) * DT, abs=1e-5)


def test_a_waypoint_follower_walks_at_its_speed_and_stays_at_the_last():
    crowd = people([[-3.0, 1.0]], [[[0.0, 5.0], [2.0, 5.0]]], speed=1.25)
    made = engine([start(crowd=crowd)], crowd=Waypoint())
    drive(made, 40, (0, 0, 0))
    travelled = np.hypot(made.world.pedestrians.x[0, 0] + 3.0, made.world.pedestrians.y[0, 0] - 1.0)
    assert travelled == pytest.approx(2.0 * 1.25, abs=1e-4)
    assert made.world.pedestrians.heading[0, 0] == pytest.approx(math.atan2(4, 3), abs=1e-5)
    drive(made, 300, (0, 0, 0))
    assert (made.world.pedestrians.x[0, 0], made.world.pedestrians.y[0, 0]) == pytest.approx((2.0, 5.0), abs=0.31)


def test_waypoints_loop_or_come_in_random_order_from_the_worlds_own_stream():
    route = [[[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]]]
    visited = {}
    for mode in (0, 1):
        made = engine([start(crowd=people([[-1.0, 0.0]], route, mode=mode), pose=(5, 5, 0), timeout=90.0)], crowd=Waypoint())
        order = [0]
        for _ in range(1200):
            drive(made, 1, (0, 0, 0))
            if made.world.waypoints.index[0, 0] != order[-1]:
                order.append(int(made.world.waypoints.index[0, 0]))
        visited[mode] = order
    assert visited[0][:6] == [0, 1, 2, 3, 0, 1]
    assert len(set(visited[1])) == 4
    assert visited[1][:9] != visited[0][:9]


def test_first_contact_with_a_pedestrian_ends_the_episode_at_its_moment():
    crowd = people([[2.03, 0.0]], [[[2.03, 0.0]]])
    made = drive(engine([start(pose=(0, 0, 0), goal=(6, 0, 0), crowd=crowd)], crowd=Waypoint()), 60)
    status = made.world.status
    assert status.ends.outcome[0, 0] == Outcome.PEDESTRIAN_COLLISION
    moment = (status.events.step[0, 0] + status.events.fraction[0, 0]) * DT
    assert moment == pytest.approx(2.03 - 0.55, abs=1e-4)
    assert status.events.party[0, 0] == 11
    assert status.ends.step[0, 0] == 30
    assert made.world.status.clock.step[0] == 30  # the world is frozen


def test_contacts_that_do_not_end_an_episode_are_counted_once_each():
    crowd = people([[2.0, 0.0], [4.0, 0.1]], [[[2.0, 0.0]], [[4.0, 0.1]]])
    made = drive(engine([start(pose=(0, 0, 0), goal=(6, 0, 0), crowd=crowd)], crowd=Waypoint(), ends=0), 200)
    assert made.world.status.ends.outcome[0, 0] == Outcome.REACHED
    assert made.world.status.events.count[0] == 2
    assert made.world.status.events.party[0, :2].tolist() == [11, 12]


def test_a_wall_stops_a_robot_and_is_one_contact():
    place = Map.from_shapes(segments=[[2.0, -3.0, 2.0, 3.0]], bounds=(-4, -4, 6, 4))
    made = drive(engine([start(pose=(0, 0, 0), goal=(5, 0, 0), place=place)], ends=END_PEDESTRIAN), 100)
    assert made.world.robots.x[0, 0] == pytest.approx(1.75, abs=1e-3)
    assert made.world.status.ends.outcome[0, 0] == RUNNING
    assert made.world.status.events.count[0] == 1
    drive(made, 20, (-0.5, 0, 0))
    assert made.world.robots.x[0, 0] == pytest.approx(1.25, abs=1e-3)


@pytest.mark.parametrize("footprint", [(), ((0.2, -0.1), (0.2, 0.1), (-0.2, 0.1), (-0.2, -0.1))])
def test_a_wall_may_stop_the_centre_of_a_robot_alone(footprint):
    place = Map.from_shapes(segments=[[2.0, -3.0, 2.0, 3.0]], bounds=(-4, -4, 6, 5))
    model = dataclasses.replace(DISC, footprint=footprint)
    one = start(pose=(0.0, 0.3, 0.0), goal=(5, 0, 0), place=place, model=model)
    made = drive(engine([one], ends=END_PEDESTRIAN, simulator=Native(walls="centre")), 100)
    assert made.world.robots.x[0, 0] == pytest.approx(1.99, abs=1e-3)
    assert made.world.status.events.count[0] == 1
    drive(made, 20, (-0.5, 0, 0))
    assert made.world.robots.x[0, 0] == pytest.approx(1.49, abs=1e-3)


def test_outcomes_come_in_order_contact_arrival_timeout():
    crowd = people([[1.0, 0.0]], [[[1.0, 0.0]]])
    touching = start(pose=(0, 0, 0), goal=(0.46, 0, 0), crowd=crowd, goal_tolerance=0.009)
    late = start(pose=(0, 0, 0), goal=(5, 0, 0), timeout=1.0)
    out = start(pose=(0, 0, 0), goal=(50, 0, 0), timeout=90.0)
    made = drive(engine([touching, late, out], crowd=Waypoint()), 600)
    assert made.world.status.ends.outcome[:, 0].tolist() == [Outcome.PEDESTRIAN_COLLISION, Outcome.TIMEOUT, Outcome.OUT_OF_MAP]
    assert made.world.status.ends.step[1, 0] == 20
    assert made.world.status.clock.done.all()


def test_arrival_needs_the_heading_where_one_is_asked_for():
    made = engine([start(pose=(0, 0, 0), goal=(0, 0, 1.5), heading_tolerance=0.1)])
    drive(made, 10, (0, 0, 0))
    assert made.world.status.ends.outcome[0, 0] == RUNNING
    drive(made, 40, (0, 0, 1.0))
    assert made.world.status.ends.outcome[0, 0] == Outcome.REACHED


def test_robots_touch_each_other_and_leave_when_removed():
    one, two = start(pose=(0, 0, 0), goal=(8, 0, 0)), start(pose=(3, 0, math.pi), goal=(-6, 0, 0))
    both = dataclasses.replace(one, robots=one.robots + two.robots)
    made = drive(engine([both]), 100)
    assert made.world.status.ends.outcome[0].tolist() == [Outcome.ROBOT_COLLISION] * 2
    assert made.world.status.events.party[0, :2].tolist() == [1, 0]
    passing = dataclasses.replace(both, robots=(one.robots[0], RobotStart(DISC, np.array([3.0, 0, 0]), np.array([[3.1, 0, 0]]))))
    made = drive(engine([passing], remove=True), 200)
    assert made.world.status.ends.outcome[0].tolist() == [Outcome.REACHED] * 2
    assert not made.world.robots.active[0].any()


@pytest.mark.parametrize("distance", [2.011, 2.0237, 2.04])
def test_a_box_meets_a_pedestrian_at_the_moment_their_outlines_do(distance):
    """On a corner: 0.3 m is the radius, 0.2 m of it beside the front."""
    box = RobotModel(
        name="box", kinematics="holonomic", radius=0.51, vx=(-1, 1), vy=1.0, omega=1.0,
        footprint=((0.4, 0.3), (-0.4, 0.3), (-0.4, -0.3), (0.4, -0.3)),
    )  # fmt: skip
    crowd = people([[distance, 0.5]], [[[distance, 0.5]]])
    made = drive(engine([start(pose=(0, 0, 0), goal=(6, 0, 0), crowd=crowd, model=box)], crowd=Waypoint()), 60)
    moment = (made.world.status.events.step[0, 0] + made.world.status.events.fraction[0, 0]) * DT
    assert moment == pytest.approx(distance - 0.4 - math.sqrt(0.3**2 - 0.2**2), abs=1e-4)


def test_a_box_passes_where_its_disc_would_not():
    box = RobotModel(
        name="box", kinematics="holonomic", radius=0.51, vx=(-1, 1), vy=1.0, omega=1.0,
        footprint=((0.45, 0.2), (-0.45, 0.2), (-0.45, -0.2), (0.45, -0.2)),
    )  # fmt: skip
    place = Map.from_shapes(segments=[[0, 0.3, 3, 0.3], [0, -0.3, 3, -0.3]], bounds=(-4, -4, 8, 4))
    along = start(pose=(-2, 0, 0), goal=(5, 0, 0), place=place, model=box)
    across = start(pose=(-2, 0, math.pi / 2), goal=(5, 0, 0), place=place, model=box)
    made = engine([along, across])
    made.world.commands[0, 0], made.world.commands[1, 0] = (1, 0, 0), (0, -1, 0)
    for _ in range(200):
        made.step()
    assert made.world.status.ends.outcome[:, 0].tolist() == [Outcome.REACHED, Outcome.WALL_COLLISION]
    assert made.world.robots.x[1, 0] == pytest.approx(-0.2, abs=0.03)


def test_replayed_pedestrians_are_where_the_recording_says():
    recorded = Trajectories.of_rows(
        [0.3, 1.0, 2.2, 0.0, 3.0], [4, 4, 4, 9, 9], [1.0, 2.0, 2.0, -3.0, 3.0], [0.0, 0.5, 2.5, 1.0, 1.0]
    )
    made = engine([start(pose=(-6, -3, 0), replay=recorded, replay_radius=0.2)])
    for step in range(1, 80):
        drive(made, 1, (0, 0, 0))
        truth = recorded.at(step * DT)
        now = made.world.pedestrians
        assert now.active[0, :2].tolist() == truth.present.tolist()
        for i in np.flatnonzero(truth.present):
            assert (now.x[0, i], now.y[0, i]) == pytest.approx(tuple(truth.position[i]), abs=1e-5)
            assert (now.vx[0, i], now.vy[0, i]) == pytest.approx(tuple(truth.velocity[i]), abs=1e-5)


def test_a_recording_that_repeats_is_absent_for_the_step_of_its_jump():
    recorded = Trajectories.of_rows([0.0, 2.0], [0, 0], [-5.0, 5.0], [0.0, 0.0])
    recorded = dataclasses.replace(recorded, period=np.array([2.0]))
    made = engine([start(pose=(0.0, 3.0, 0), replay=recorded, replay_phase=np.array([0.52]))])
    seen = []
    for _ in range(90):
        drive(made, 1, (0, 0, 0))
        seen.append((bool(made.world.pedestrians.active[0, 0]), float(made.world.pedestrians.x[0, 0])))
    times = (np.arange(1, 91) * DT + 0.52) % 2.0
    for (active, x), t in zip(seen, times, strict=True):
        if active:
            assert x == pytest.approx(-5.0 + 5.0 * t, abs=1e-4)
        else:
            assert t < DT + 1e-9
    assert sum(not active for active, _ in seen) == 2
    assert made.world.status.events.count[0] == 0


def everything(made: Engine) -> bytes:
    people_now, robots = made.world.pedestrians, made.world.robots
    count = int(made.world.traits.count[0])
    parts = [field[0, :count].tobytes() for field in people_now] + [field[0].tobytes() for field in robots]
    return b"".join(parts) + made.world.status.ends.outcome[0].tobytes() + made.world.status.clock.step[0].tobytes()


def crowded(seed: int):
    rng = np.random.default_rng(seed)
    places = rng.uniform((-6, -3), (11, 8), (19, 2))
    return start(crowd=people(places, rng.uniform((-6, -3), (11, 8), (19, 3, 2)), mode=1), entry=f"test/stage/{seed}")


def test_a_world_is_the_same_alone_in_a_batch_padded_and_on_threads():
    mine, others = crowded(1), [crowded(k) for k in range(2, 9)]
    alone = drive(engine([mine], crowd=Helbing(), ends=0), 150, (0.4, 0, 0.2))
    want = everything(alone)
    for batch, slots, threads in (([mine, *others], 0, 1), ([mine], 128, 1), ([mine, *others] * 8, 64, 2)):
        made = engine(batch, crowd=Helbing(), ends=0, slots=slots, threads=threads)
        assert everything(drive(made, 150, (0.4, 0, 0.2))) == want
        made.close()


def test_a_reset_world_starts_as_if_nothing_had_been_before():
    first, second = crowded(3), crowded(4)
    fresh = drive(engine([second], crowd=Helbing(), ends=0), 60, (0.4, 0, 0.2))
    used = engine([first, second], worlds=1, crowd=Helbing(), ends=0)
    drive(used, 37, (0.4, 0, 0.2))
    used.reset(0, second)
    assert everything(drive(used, 60, (0.4, 0, 0.2))) == everything(fresh)


def test_a_user_written_crowd_model_is_called_with_read_only_arrays_and_moves_people():
    class Push:
        declares = CrowdDeclaration("velocity")

        def compute(self, scene):
            with pytest.raises(ValueError, match="read-only"):
                scene.position[...] = 0
            return np.broadcast_to(np.float32([0.5, 0.0]), scene.position.shape)

    made = drive(engine([start(crowd=people([[0, 2.0]], [[[0, 2.0]]]))], crowd=Push()), 20, (0, 0, 0))
    assert made.world.pedestrians.x[0, 0] == pytest.approx(0.5, abs=1e-5)


def test_a_crowd_model_that_answers_nonsense_is_named():
    class Wrong:
        declares = CrowdDeclaration("velocity")

        def compute(self, scene):
            return np.full(scene.position.shape, np.nan)

    with pytest.raises(ComponentError, match="crowd model Wrong returned an answer with nan; expected finite numbers"):
        drive(engine([start(crowd=people([[0, 2.0]], [[[0, 2.0]]]))], crowd=Wrong()), 1)


def test_starts_with_different_numbers_of_robots_are_refused():
    one = start()
    with pytest.raises(InputError, match="same number"):
        Layout.of([one, dataclasses.replace(one, robots=one.robots * 2)], 2, DT)


def test_an_empty_plane_without_anybody_is_fine():
    made = drive(engine([start(place=plane())]), 5)
    assert made.world.robots.x[0, 0] > 0
