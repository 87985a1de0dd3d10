"""Robots in MuJoCo obey mechanics: grip, curves, walls, pushes. Where nothing is in the way they drive as the native ones do."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest
from tests import engines
from tests.starts import DISC, people, plane, start

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.results.recordings import recordings
from agora.core.recording import Outcome
from agora.engine.engine import Engine
from agora.errors import InputError
from agora.leaderboard._rules import of_values
from agora.learning.env import AgoraVectorEnv
from agora.maps.grid import Map
from agora.node_logic.one_world import OneWorld
from agora.pedestrians.models.waypoint import Waypoint
from agora.registry import Named
from agora.robots.model import RobotModel, load_robot, robot_names
from agora.simulators.mujoco import chassis
from agora.simulators.mujoco import model as world_model
from agora.simulators.mujoco.chassis import GRAVITY
from agora.simulators.mujoco.simulator import MuJoCo
from agora.simulators.native import Native
from agora.tasks.suite import load_suite
from agora.viewer.why import why
from agora.world.records import RUNNING
from agora.world.start import RobotStart

DT = 0.05
CAR = RobotModel(
    "car", "ackermann", 0.45, (-1.0, 2.0), 3.0, ax=3.0, footprint=((-0.08, -0.15), (0.42, -0.15), (0.42, 0.15), (-0.08, 0.15)),
    wheelbase=0.33, max_steering=0.4, max_steering_rate=3.0,
)  # fmt: skip
BOX = RobotModel(
    "box", "holonomic", 0.5, (-0.8, 0.8), 1.5, vy=0.6, ax=1.5, ay=1.5, alpha=4.0,
    footprint=((-0.35, -0.2), (0.4, -0.2), (0.4, 0.25), (-0.35, 0.25)),
)  # fmt: skip


def engine(starts, simulator=None, **more) -> Engine:
    return engines.engine(starts, ends=0, simulator=simulator or MuJoCo(), **more)


def drive(made: Engine, seconds: float, twist) -> np.ndarray:
    """Poses and twists (T, 6) of the first robot."""
    made.world.commands[...] = twist
    states = []
    for _ in range(round(seconds / DT)):
        made.step()
        r = made.world.robots
        states.append([float(f[0, 0]) for f in (r.x, r.y, r.heading, r.vx, r.vy, r.omega)])
    return np.array(states)


@pytest.mark.parametrize("name", robot_names())
def test_every_robot_drives_and_turns_as_the_library_has_it(name):
    model = load_robot(name)
    speed, turn = 0.6 * model.vx[1], 0.4 * min(model.omega, 2.0)
    ways = []
    for simulator in (Native(), MuJoCo()):
        made = engine([start(pose=(0.4, -1.1, 2.0), model=model)], simulator)
        drive(made, 1.0, (speed, 0.0, 0.0))
        states = drive(made, 2.0, (speed, 0.5 * model.vy, turn))
        drive(made, 1.0, (0.0, 0.0, 0.0))
        ways.append(states)
        assert np.abs(drive(made, 0.1, (0.0, 0.0, 0.0))[:, 3:]).max() < 0.01
    native, physical = ways
    turned = np.diff(np.unwrap(native[[9, -1], 2]))[0]
    assert np.diff(np.unwrap(physical[[9, -1], 2]))[0] == pytest.approx(turned, rel=0.05, abs=0.01)
    assert physical[-1, 3:5] == pytest.approx(native[-1, 3:5], rel=0.02, abs=0.01)
    lag = speed * 0.25  # a motor's response, and grip that is less than the acceleration of the file
    assert np.hypot(*(physical[-1, :2] - native[-1, :2])) < lag + 0.03


@pytest.mark.parametrize("model", [DISC, BOX, CAR])
def test_the_first_command_of_an_episode_is_obeyed_at_once(model):
    made = engine([start(pose=(0.4, -1.1, 2.0), model=model)])
    drive(made, DT, (0.3, 0.0, 0.0))
    within = min(0.3, DT * made._bodies._limits.max_ax[0, 0])
    assert within > 0.07 and made._bodies._points[0, 0, :3] == pytest.approx([within, 0.0, 0.0], abs=1e-6)


EAGER = dataclasses.replace(DISC, vx=(-2.0, 2.0), ax=50.0, mass=11.0)


@pytest.mark.parametrize("friction", [0.15, 0.6])
def test_the_floor_bears_no_more_than_its_friction(friction, monkeypatch):
    monkeypatch.setattr(chassis, "_GRIP", 9.0)  # a driver without feeling, whose wheels spin
    made = engine([start(pose=(-5.0, 0.0, 0.0), model=EAGER)], MuJoCo(friction=friction))
    speeds = drive(made, 0.5, (2.0, 0.0, 0.0))[:, 3]
    assert 0.2 * friction * GRAVITY < np.diff(speeds)[1:5].mean() / DT < 1.02 * friction * GRAVITY


@pytest.mark.parametrize("friction", [0.15, 0.6])
def test_a_driver_brakes_without_skidding_and_no_shorter_than_locked_wheels_do(friction):
    made = engine([start(pose=(-5.0, 0.0, 0.3), model=EAGER)], MuJoCo(friction=friction))
    speeds = drive(made, 4.0, (1.5, 0.0, 0.0))[:, 3]
    rolling = made._bodies._at_work[0]._data.qvel[6:8] * made._bodies._at_work[0]._compiled.chassis[0].wheel_radius
    assert speeds[-1] == pytest.approx(1.5, rel=0.02) and rolling == pytest.approx([1.5, 1.5], rel=0.02)
    before = drive(made, DT, (1.5, 0.0, 0.0))[-1, :2]
    slips = []
    for _ in range(100):
        speed = drive(made, DT, (0.0, 0.0, 0.0))[-1, 3]
        wheels = made._bodies._at_work[0]._data.qvel[6:8] * made._bodies._at_work[0]._compiled.chassis[0].wheel_radius
        slips.append(np.abs(wheels - speed).max())
    way = np.hypot(made.world.robots.x[0, 0] - before[0], made.world.robots.y[0, 0] - before[1])
    assert way > 1.5**2 / (2 * friction * GRAVITY) and abs(speed) < 0.01
    assert max(slips) < 0.15


@pytest.mark.parametrize("model", [EAGER, dataclasses.replace(BOX, ax=50.0)])
def test_a_load_is_mass_and_motors_stay_as_strong_as_they_are(model):
    made = [engine([start(pose=(-5.0, 0.0, 0.0), model=model)], MuJoCo(load=load)) for load in (1.0, 20.0)]
    assert made[1]._bodies._at_work[0]._model.body("robot_0").subtreemass == pytest.approx(
        20.0 * made[0]._bodies._at_work[0]._model.body("robot_0").subtreemass
    )
    light, heavy = (drive(one, 0.2, (0.8, 0.0, 0.0))[-1, 3] for one in made)
    assert light > 0.5 and 0.5 * GRAVITY / 20 < heavy / 0.2 < 2.05 * GRAVITY / 20


@pytest.mark.parametrize("model", [DISC, BOX, CAR])
def test_what_slips_loses_its_share_of_the_speed(model):
    twist = drive(engine([start(pose=(0.0, 0.0, 0.0), model=model)], MuJoCo(slip=0.25)), 2.0, (0.6, 0.0, 0.4))[-1, 3:]
    assert twist[[0, 2]] == pytest.approx([0.45, 0.3 if model is not CAR else twist[2]], rel=0.02)


def test_a_car_drives_the_circle_of_its_steering():
    made = engine([start(pose=(0.0, 0.0, -1.0), model=CAR)])
    states = drive(made, 6.0, (0.6, 0.0, 3.0))[40:]
    x, y = states[:, 0], states[:, 1]
    a = np.column_stack([2 * x, 2 * y, np.ones_like(x)])
    cx, cy, c = np.linalg.lstsq(a, x * x + y * y, rcond=None)[0]
    assert math.sqrt(c + cx * cx + cy * cy) == pytest.approx(CAR.turning_radius, rel=0.03)
    assert (states[:, 5] > 0).all()


def test_a_box_slides_sideways_and_turns_at_once():
    made = engine([start(pose=(0.0, 0.0, 0.5), model=BOX)])
    states = drive(made, 2.0, (0.3, -0.4, 0.7))
    assert states[-1, 3:] == pytest.approx([0.3, -0.4, 0.7], abs=0.01)


@pytest.mark.parametrize(("delay", "latency"), [(0.2, 0.0), (0.05, 0.15), (0.1, 0.1)])
def test_a_command_takes_effect_after_its_delay_and_the_latency_of_the_drive(delay, latency):
    late = dataclasses.replace(DISC, command_delay=delay)
    states = drive(engine([start(pose=(0, 0, 0), model=late)], MuJoCo(latency=latency)), 0.4, (0.8, 0.0, 0.0))
    assert np.abs(states[:4, 3]).max() < 1e-3 < states[4, 3]


def test_the_suite_of_floors_has_the_same_episodes_on_each():
    suite = load_suite("floors")
    first, *others = [suite.start(stage.name, 1) for stage in suite.stages]
    for other in others:
        assert np.array_equal(first.robots[0].pose, other.robots[0].pose) and first.timeout == other.timeout
        assert np.array_equal(first.pedestrians.waypoints, other.pedestrians.waypoints)
    assert len({stage.simulator for stage in suite.stages}) == len(suite.stages)


def room() -> Map:
    """A room of 6 m by 4.5 m with walls of 0.1 m, and a thin wall across a corner."""
    cells = np.zeros((45, 60), np.bool_)
    cells[[0, -1]], cells[:, [0, -1]] = True, True
    return Map("room", resolution=0.1, origin=(-1.7, 2.2), occupied=cells, segments=np.array([[2.9, 2.4, 4.1, 3.6]]))


@pytest.mark.parametrize("model", [DISC, BOX])
@pytest.mark.parametrize("heading", [0.0, 0.4, -0.8, 2.5])
def test_walls_stop_robots_and_let_them_go(model, heading):
    place = room()
    made = engine([start(pose=(1.2, 4.6, heading), place=place, model=model)])
    states = drive(made, 6.0, (0.7, 0.0, 0.0))
    assert made.world.status.touching.wall[0, 0] and made.world.status.events.count[0] >= 1
    inside = model.inscribed_radius - place.clearance_at(states[:, :2])
    assert inside.max() < 0.02
    before = states[-1, :2]
    back = drive(made, 1.5, (-0.4, 0.0, 0.0))[-1]
    assert np.hypot(*(back[:2] - before)) > 0.3 and not made.world.status.touching.wall[0, 0]


def test_the_moment_of_touching_is_told_within_the_step():
    touching = -1.7 + 6.0 - 0.1 - DISC.radius
    for x in (1.2, 1.208, 1.216, 1.224):
        made = engine([start(pose=(x, 4.6, 0.0), place=room())])
        made.world.commands[...] = (0.7, 0.0, 0.0)
        before = x
        while not made.world.status.events.count[0]:
            before = float(made.world.robots.x[0, 0])
            made.step()
        assert made.world.status.events.x[0, 0] == pytest.approx(touching, abs=0.01)
        assert made.world.status.events.fraction[0, 0] == pytest.approx((touching - before) / (0.7 * DT), abs=0.15)


def test_somebody_who_walks_on_pushes_a_robot():
    crowd = people([[-2.0, 0.05]], [[[6.0, 0.05]]], speed=0.9)
    made = engine([start(pose=(0.0, 0.0, 1.2), crowd=crowd)], crowd=Waypoint(), sees_robots=False, careful=False)
    drive(made, 5.0, (0.0, 0.0, 0.0))
    robot, person = made.world.robots, made.world.pedestrians
    gap = math.hypot(robot.x[0, 0] - person.x[0, 0], robot.y[0, 0] - person.y[0, 0]) - DISC.radius - 0.3
    assert math.hypot(robot.x[0, 0], robot.y[0, 0]) > 0.3 and gap > -0.02
    assert made.world.status.events.count[0] >= 1


def test_a_heavy_robot_pushes_a_light_one():
    heavy, light = (dataclasses.replace(BOX, mass=mass) for mass in (60.0, 12.0))
    moved = []
    for pusher, other in ((heavy, light), (light, heavy)):
        one = start(pose=(0.0, 0.0, 0.0), model=pusher)
        stands = RobotStart(other, np.array([1.2, 0.05, 0.0]), np.array([[9.0, 0.0, 0.0]]))
        made = engine([dataclasses.replace(one, robots=(*one.robots, stands))])
        made.world.commands[0] = [(0.8, 0.0, 0.0), (0.0, 0.0, 0.0)]
        for _ in range(60):
            made.step()
        moved.append(float(made.world.robots.x[0, 1]) - 1.2)
        assert made.world.robots.x[0, 0] < made.world.robots.x[0, 1] - 0.7
    assert moved[0] > 0.5 and moved[1] < 0.3 * moved[0]


def test_a_robot_that_somebody_has_moved_goes_on_there():
    made = engine([start(pose=(0.0, 0.0, 0.0))])
    drive(made, 1.0, (0.8, 0.0, 0.0))
    made.world.robots.x[0, 0], made.world.robots.y[0, 0], made.world.robots.heading[0, 0] = 5.0, 2.0, -2.0
    states = drive(made, 1.0, (0.8, 0.0, 0.0))
    assert states[-1, :2] == pytest.approx((5.0 + 0.8 * math.cos(-2.0), 2.0 + 0.8 * math.sin(-2.0)), abs=0.06)


def test_a_robot_that_has_left_the_world_is_in_nobodys_way():
    one = start(pose=(0.0, 0.0, 0.0))
    other = RobotStart(DISC, np.array([2.0, 0.0, 0.0]), np.array([[9.0, 0.0, 0.0]]))
    made = engine([dataclasses.replace(one, robots=(*one.robots, other))])
    made.world.robots.active[0, 1] = False
    assert drive(made, 4.0, (0.8, 0.0, 0.0))[-1, 0] > 2.9


@pytest.mark.parametrize("timestep", [0.0, 0.05, -1.0])
def test_a_timestep_that_is_unstable_is_refused(timestep):
    with pytest.raises(InputError, match=r"timestep: expected a number in \[0.0001, 0.02\]"):
        MuJoCo(timestep=timestep)


def test_a_map_of_too_many_boxes_is_refused(monkeypatch):
    monkeypatch.setattr("agora.simulators.mujoco.model.MOST_BOXES", 3)
    with pytest.raises(InputError, match="its walls need 4 boxes, but the mujoco simulator supports at most 3"):
        engine([start(pose=(1.2, 4.6, 0.0), place=room())])


@pytest.mark.parametrize(
    ("component", "value", "said"),
    [(0, np.nan, "the state is not finite"), (1, 1e11, "the state is not finite"), (1, 90.0, r"a robot is at 7\d m/s"),
     (2, 40.0, r"a robot is 2\.0 m off the floor")],
)  # fmt: skip
def test_a_state_that_is_nobodys_drive_is_an_outcome_not_a_position_and_not_a_file(
    component, value, said, tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    both = [start(pose=(0.0, 0.0, 0.0)), start(pose=(1.0, 0.0, 0.0))]
    made, alone = engine(both), engine(both[1:])
    before = drive(made, 0.1, (0.8, 0.0, 0.0))[-1]
    made._bodies._at_work[0]._data.qvel[component] = value
    after = drive(made, 0.2, (0.8, 0.0, 0.0))[-1]
    drive(alone, 0.3, (0.8, 0.0, 0.0))
    status = made.world.status
    assert status.ends.outcome.tolist() == [[Outcome.SIMULATOR_FAILED], [RUNNING]] and status.ends.step[0, 0] == 3
    assert re.match(rf"mujoco: {said} at 0\.150 s; a shorter timestep", made.world.failure(0, 0))
    assert np.array_equal(after, before) and made.world.robots.x[1, 0] == alone.world.robots.x[0, 0]
    made.reset(0, both[1])
    assert drive(made, 0.3, (0.8, 0.0, 0.0))[-1, 0] == alone.world.robots.x[0, 0] and made.world.failure(0, 0) == ""
    assert not list(tmp_path.iterdir()) and not any(capfd.readouterr())


def test_a_model_that_explodes_ends_its_episode_and_not_the_run_which_goes_on_from_it(tmp_path, monkeypatch):
    # A mass beyond every load that the simulator accepts.
    monkeypatch.setattr(world_model, "add_robot", lambda *known: chassis.add_robot(*known[:-1], 1e300))
    heavy = load_suite("demo").part(("doorway",), 2).under(Named("mujoco", MuJoCo()))
    request = Request(heavy, {"p": Named.of("planners", "go_to_goal")}, tmp_path / "run", Options(workers=0))
    rows = run_all(request)
    assert [row["outcome"] for row in rows] == ["simulator_failed"] * 2 and {row["success"] for row in rows} == {0.0}
    assert all(re.match(r"mujoco: a robot is .* m off the floor at 0\.\d+ s", row["failure"]) for row in rows)
    assert all(0.2 < row["duration"] < 1.0 and row["path_length"] is not None for row in rows) and not list(of_values(rows))
    assert run_all(dataclasses.replace(request, resume=True)) == rows
    for recording in recordings(tmp_path / "run", [row["key"] for row in rows]).values():
        assert recording.outcome is Outcome.SIMULATOR_FAILED and np.isfinite(recording.pose).all() and len(recording.time) > 2
        assert "the simulator failed: mujoco: a robot is" in why(recording).words


def test_a_model_that_mujoco_refuses_is_told_with_its_robot():
    with pytest.raises(InputError, match="mujoco: rejected the model of disc: .*inertia"):
        engine([start(pose=(0.0, 0.0, 0.0))], MuJoCo(load=1e-16))


def test_a_map_is_compiled_once(monkeypatch):
    from agora.simulators.mujoco import simulator

    made, place = [], plane()
    monkeypatch.setattr(simulator, "world_model", lambda *a, _old=simulator.world_model, **k: made.append(1) or _old(*a, **k))
    starts = [start(pose=(x, 0.0, 0.0), place=place) for x in (0.0, 1.0, 2.0)]
    both = engine(starts)
    both.reset(1, starts[2])
    assert len(made) == 1


def test_an_environment_plays_in_it_the_same_for_any_number_of_threads():
    seen = []
    for threads in (1, 2):
        made = AgoraVectorEnv("demo", "hall", 32, simulator="mujoco:friction=0.7", threads=threads)
        made.reset(seed=3)
        actions = np.random.default_rng(1).uniform(-1.0, 1.0, (12, 32, 2)).astype(np.float32)
        seen.append([made.step(action)[0] for action in actions])
        made.close()
    assert np.array_equal(*seen) and np.isfinite(seen[0]).all()


def test_ros_moves_its_robots_by_the_same_steps():
    one = OneWorld(Named.of("simulators", "mujoco"))
    suite = load_suite("demo")
    one.begin(suite.start("hall", 2), suite.stage("hall"), ["r"], since=0.0)
    made = engines.engine([suite.start("hall", 2)], simulator=MuJoCo(), ends=0)
    for _ in range(40):
        one.command(np.array([[0.9, 0.0, 0.4]], np.float32), {})
        one.advance()
        made.step(np.array([[[0.9, 0.0, 0.4]]], np.float32))
    assert [float(f[0, 0]) for f in one.robots[:3]] == [float(f[0, 0]) for f in made.world.robots[:3]]
