"""A limited field of view: who is in the cone, and what is believed of those who have left it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.starts import DISC, people, plane, start

from agora.config import parse
from agora.core.state import HOLONOMIC
from agora.draft.stage import Stage
from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.episode import Batch, Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import Setting
from agora.pedestrians.models.orca import Orca
from agora.perception.perception import Perception
from agora.perception.view import View
from agora.planners.local.orca import OrcaPlanner
from agora.tasks.suite import load_suite
from agora.world.start import RobotStart
from agora.world.world import World

OMNI = replace(DISC, name="omni", kinematics="holonomic", vx=(-1.0, 1.0), vy=1.0)
FIELDS = ("position", "velocity", "radius", "id", "group", "type")


def world_of(worlds=1, count=3, models=(DISC,), seed=0, slots=0):
    """Worlds of people and of robots of each model, at random places."""
    rng = np.random.default_rng(seed)
    starts = []
    for k in range(worlds):
        crowd = people(rng.uniform(-4, 4, (count, 2)), rng.uniform(-4, 4, (count, 2)), first_id=5 + 40 * k) if count else None
        begun = start(crowd=crowd, entry=f"test/stage/{k}", place=plane())
        robots = tuple(RobotStart(m, np.array([*rng.uniform(-3, 3, 3)]), np.array([[4.0, 3.0, 0.0]])) for m in models)
        starts.append(replace(begun, robots=robots))
    world = World.of(starts, dt=0.25, slots=slots)
    for k, one in enumerate(starts):
        world.reset(k, one)
    return world


class Told:
    """The robots' knowledge of pedestrians in a world at a moment, s."""

    def __init__(self, world, view, source="view"):
        wiring = Wiring.of(("pedestrians",), Setting(perception=Perception(source, view=view)))
        self.observer = Observer(world, wiring, 0.25)

    def read(self, time=0.0):
        self.observer.now = time
        return self.observer.observe().pedestrians

    def begin(self, model, world=0):
        self.observer.place(world, 0, model)


def shake(world, rng):
    """Put everybody somewhere else, with other velocities; the fourth pedestrian may be away, and half of the robots stand."""
    for record, names in ((world.pedestrians, "x y vx vy"), (world.robots, "x y world_vx world_vy heading")):
        for name in names.split():
            array = getattr(record, name)
            array[...] = rng.uniform(-4.0, 4.0, array.shape)
    standing = rng.random(world.robots.world_vx.shape) < 0.5
    world.robots.world_vx[standing] = world.robots.world_vy[standing] = 0.0
    if world.pedestrians.active.shape[1] > 3 and world.traits.id[0, 3]:
        world.pedestrians.active[:, 3] = rng.random() < 0.6


class PlainView:
    """The same of one row, a pedestrian at a time."""

    def __init__(self, view):
        self.view, self.look, self.known = view, None, {}

    def see(self, world, w, r, time):
        robots, traits, now = world.robots, world.traits, world.pedestrians
        velocity = np.array([robots.world_vx[w, r], robots.world_vy[w, r]], float)
        heading = float(robots.heading[w, r])
        turns = world.robot_traits.kinematics[w, r] != HOLONOMIC
        if not turns and np.hypot(*velocity) > 0.01:
            self.look = math.atan2(*velocity[::-1])
        elif turns or self.look is None:
            self.look = heading
        told = {}
        for i in range(now.x.shape[1]):
            number = int(traits.id[w, i])
            if not now.active[w, i]:
                self.known.pop(i, None)
                continue
            place = np.array([now.x[w, i], now.y[w, i]], float)
            away = place - [robots.x[w, r], robots.y[w, r]]
            off = abs(math.remainder(math.atan2(away[1], away[0]) - self.look, math.tau))
            gap = np.hypot(*away) - world.robot_traits.radius[w, r] - traits.radius[w, i]
            if off <= 0.5 * self.view.angle and gap <= (math.inf if self.view.range is None else self.view.range):
                self.known[i] = number, time, place, np.array([now.vx[w, i], now.vy[w, i]], float)
            if i in self.known and self.known[i][0] == number:
                _, when, last, pace = self.known[i]
                told[i] = last + (time - when) * pace
        return told


@pytest.mark.parametrize("view", [View(1.3, 4.0), View(math.pi, None), View(math.tau, 3.0), View(5.0, 2.5)])
def test_the_kernel_agrees_with_its_plain_twin(view):
    rng = np.random.default_rng(8)
    world = world_of(worlds=3, count=6, models=(DISC, OMNI))
    told, plain = Told(world, view), {(w, r): PlainView(view) for w in range(3) for r in range(2)}
    hidden = 0
    for step in range(12):
        shake(world, rng)
        tracks = told.read(0.25 * step)
        for (w, r), twin in plain.items():
            expected, n = twin.see(world, w, r, 0.25 * step), 2 * w + r
            assert np.flatnonzero(tracks.present[n]).tolist() == sorted(expected), (step, w, r)
            for i, place in expected.items():
                assert tracks.position[n, i] == pytest.approx(place, abs=1e-5)
            hidden += sum(when < 0.25 * step for _, when, *_ in twin.known.values())
    assert hidden > 50


def test_all_around_and_without_range_it_is_the_truth_to_the_bit():
    rng = np.random.default_rng(3)
    world = world_of(worlds=2, count=5, models=(OMNI,))
    told, truth = Told(world, View(math.tau, None)), Told(world, View(), "truth")
    for step in range(6):
        shake(world, rng)
        mine, its = told.read(0.25 * step), truth.read()
        assert np.array_equal(mine.present, its.present) and its.present.any()
        for name in FIELDS:
            assert np.array_equal(getattr(mine, name)[its.present], getattr(its, name)[its.present]), name


def behind_and_ahead(model, heading=0.4):
    """One robot at (0.3, -0.2) and one pedestrian 2 m behind it who walks at (0.2, 0.5) m/s."""
    begun = start(pose=(0.3, -0.2, heading), crowd=people([(0.0, 0.0)], [(0.0, 0.0)]), model=model)
    world = World.of([begun], dt=0.25)
    world.reset(0, begun)
    back = np.array([0.3, -0.2]) - 2.0 * np.array([math.cos(heading), math.sin(heading)])
    world.pedestrians.x[0, 0], world.pedestrians.y[0, 0] = back
    world.pedestrians.vx[0, 0], world.pedestrians.vy[0, 0] = 0.2, 0.5
    return world, np.float32(back)


def walk(world, seconds=0.25):
    world.pedestrians.x[0, 0] += seconds * world.pedestrians.vx[0, 0]
    world.pedestrians.y[0, 0] += seconds * world.pedestrians.vy[0, 0]


def test_a_person_behind_is_unknown_until_the_robot_turns_and_then_believed_to_go_straight_on():
    world, back = behind_and_ahead(DISC)
    told = Told(world, View(math.pi / 2, 5.0))
    assert not told.read(0.0).present.any()
    world.robots.heading[0, 0] = 0.4 + math.pi
    seen = told.read(0.25)
    assert seen.present[0].tolist() == [True] + [False] * (world.slots - 1)
    assert np.array_equal(seen.position[0, 0], back) and seen.velocity[0, 0].tolist() == pytest.approx([0.2, 0.5])
    world.robots.heading[0, 0] = 0.4
    world.pedestrians.vx[0, 0], world.pedestrians.vy[0, 0] = -0.9, 0.1  # nobody sees this
    for k in range(1, 9):
        walk(world)
        believed = told.read(0.25 + 0.25 * k)
        assert believed.present[0, 0]
        assert believed.position[0, 0] == pytest.approx(back + 0.25 * k * np.array([0.2, 0.5]), abs=1e-6)
        assert believed.velocity[0, 0].tolist() == pytest.approx([0.2, 0.5])
    world.robots.heading[0, 0] = 0.4 + math.pi
    again = told.read(2.5)
    assert again.position[0, 0].tolist() == [world.pedestrians.x[0, 0], world.pedestrians.y[0, 0]]
    assert again.velocity[0, 0].tolist() == pytest.approx([-0.9, 0.1])


def test_a_holonomic_robot_looks_where_it_moves_and_standing_where_it_last_did():
    world, _ = behind_and_ahead(OMNI)
    told = Told(world, View(math.pi / 2, None))
    assert not told.read(0.0).present.any()  # it stands and looks along its heading
    back = -0.5 * np.array([math.cos(0.4), math.sin(0.4)])
    for velocity, known in (((0.0, 0.0), False), ((-back[1], back[0]), False), (back, True)):
        world.robots.world_vx[0, 0], world.robots.world_vy[0, 0] = velocity
        assert told.read(0.25).present[0, 0] == known
    world.robots.world_vx[0, 0] = world.robots.world_vy[0, 0] = 0.0
    walk(world)
    still = told.read(0.5)  # it stands and looks back
    assert still.position[0, 0].tolist() == [world.pedestrians.x[0, 0], world.pedestrians.y[0, 0]]
    told.begin(OMNI)
    assert not told.read(0.0).present.any()


@pytest.mark.parametrize("model", [DISC, OMNI])
def test_a_new_episode_knows_nobody_and_only_in_its_own_row(model):
    world = world_of(worlds=2, count=3, models=(model, model))
    world.pedestrians.x[...] += 100.0
    far = Told(world, View(math.tau, 30.0))
    assert not far.read(0.0).present.any()
    world.pedestrians.x[...] -= 100.0
    assert far.read(0.25).present.sum() == 4 * 3
    world.pedestrians.x[...] += 100.0
    far.begin(model, 1)
    assert far.read(0.5).present.sum(1).tolist() == [3, 3, 0, 3]


def test_the_range_is_between_outlines():
    world, _ = behind_and_ahead(DISC, heading=0.0)
    gap = 2.0 - 0.25 - 0.3
    assert Told(world, View(math.tau, gap + 1e-3)).read(0.0).present[0, 0]
    assert not Told(world, View(math.tau, gap - 1e-3)).read(0.0).present[0, 0]


def test_who_leaves_the_world_is_forgotten_and_another_in_that_place_is_unknown():
    world, _ = behind_and_ahead(DISC)
    told = Told(world, View(math.pi / 2, None))
    world.robots.heading[0, 0] = 0.4 + math.pi
    assert told.read(0.0).present[0, 0]
    world.robots.heading[0, 0] = 0.4
    world.traits.id[0, 0] = 77
    assert not told.read(0.25).present[0, 0]
    world.robots.heading[0, 0] = 0.4 + math.pi
    assert told.read(0.5).id[0, 0] == 77
    world.robots.heading[0, 0] = 0.4
    world.pedestrians.active[0, 0] = False
    assert not told.read(0.75).present[0, 0]
    world.pedestrians.active[0, 0] = True
    assert not told.read(1.0).present[0, 0]


@pytest.mark.parametrize("model", [DISC, OMNI])
def test_an_episode_is_the_same_in_any_batch_with_any_slots_and_threads(model):
    rng = np.random.default_rng(2)
    starts = []
    for k in range(4):
        places, goals = (rng.permutation([(x, y) for x in (-5.0, -2.0, 3.0, 6.0) for y in (-3.0, 2.5, 6.0)])[: 3 * k] for _ in "ab")
        crowd = people(places, goals, first_id=5) if k else None
        pose = (0.1 * k, 0.0, 0.4 * k)
        starts.append(start(pose=pose, goal=(7.0, 6.0, 0.0), crowd=crowd, entry=f"test/stage/{k}", timeout=8.0, model=model))
    conditions = Conditions(crowd=Orca(), ends=0, perception=Perception("view", view=View(1.6, 4.0)))

    def run(conditions, **how):
        return {k: recordings[0] for k, recordings in Episodes(starts, OrcaPlanner(), conditions, **how)}

    wanted = run(conditions, worlds=4)
    for how in ({"worlds": 1}, {"worlds": 3, "slots": 64}, {"worlds": 4, "threads": 2}):
        found = run(conditions, **how)
        for k, recording in wanted.items():
            assert np.array_equal(recording.pose, found[k].pose), (how, k)
    truth = run(replace(conditions, perception=Perception("truth")))
    assert any(not np.array_equal(truth[k].pose, wanted[k].pose) for k in wanted)
    whole = run(replace(conditions, perception=Perception("view", view=View(math.tau, None))))
    assert all(np.array_equal(truth[k].pose, whole[k].pose) for k in wanted)


def test_of_nobody_nothing_is_told():
    made = Batch([start()], Conditions(perception=Perception("view")), ("pedestrians",), 1)
    made.begin(0, 0)
    made.look()
    assert not made.observer.observe().pedestrians.present.any()


def test_a_stage_takes_the_view_and_refuses_one_that_makes_no_sense():
    stage = load_suite("dsrnn_view").stage("fov_90")
    assert stage.perception.source == "view"
    assert stage.perception.view == View(math.pi / 2, None)
    wrongs = (({"angle": 90.0}, "angle"), ({"angle": 0.0}, "angle"), ({"range": -1.0}, "range"), ({"angl": 1.0}, "angle"))
    for wrong, words in wrongs:
        with pytest.raises(InputError, match=words):
            parse(json.dumps({"name": "a", "world": "open", "pedestrians": {"source": "view", "view": wrong}}), Stage)
