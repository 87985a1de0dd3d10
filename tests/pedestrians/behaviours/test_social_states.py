"""Social states: what each state does to place, speed and gaze, and when it comes and goes."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from tests.engines import engine as engine_at

import starts
from agora.core.state import REACTIONS, SOCIAL_STATES, TYPES
from agora.draft.pedestrian_types import pedestrian_types
from agora.maps.furniture import Furniture
from agora.pedestrians.behaviours.social_states import SocialStates
from agora.pedestrians.models.waypoint import Waypoint
from agora.world.start import Habits

QUIET = SocialStates(
    running_rate=0, phone_rate=0, seek_rate=0, chat_rate=0, story_rate=0, group_rate=0, stroll_rate=0, pause_rate=0, errand_rate=0,
    rest_rate=0,
)  # fmt: skip
"""Nothing begins of itself."""

FAR = (-6.9, -3.8, 0.4)
"""Where a robot bothers nobody."""


class Scene:
    """One world with one robot; pedestrians walk straight to their waypoints."""

    def __init__(self, places: Any, goals: Any, rules: SocialStates = QUIET, *, robot=FAR, dt=0.1, **more: Any) -> None:
        of = {k: more.pop(k) for k in ("speed", "mode", "first_id") if k in more}
        sees, engine = more.pop("sees_pedestrians", True), more.pop("behaviours", ())
        crowd = starts.people(places, goals, **of)
        n = len(crowd.id)
        names = {"type": TYPES, "reaction": REACTIONS, "state": SOCIAL_STATES}
        for key, known in names.items():
            if key in more:
                crowd = dataclasses.replace(crowd, **{key: np.full(n, known.index(more.pop(key)), np.int32)})
        crowd = dataclasses.replace(crowd, **{k: more.pop(k) for k in ("group", "heading", "habits") if k in more})
        self.start = starts.start(robot, (40.0, 40.0, 0.0), crowd, timeout=1e4, **more)
        behaviours = (*engine, dataclasses.replace(rules, thinking_time=dt))
        self.engine = engine_at([self.start], dt, crowd=Waypoint(), behaviours=behaviours, ends=0, sees_pedestrians=sees)
        self.n, self.at_work = n, self.engine.crowd.behaviours[-1].attached

    def give(self, **values: float) -> Scene:
        """Set values of minds, characters and memories for everybody."""
        for name, value in values.items():
            homes = (self.engine.world.minds, self.at_work.character, self.at_work.memory)
            record = next(record for record in homes if name in record._fields)
            getattr(record, name)[0, : self.n] = value
        return self

    def run(self, seconds: float, command=(0.0, 0.0, 0.0)) -> Scene:
        for _ in range(round(seconds / self.engine.world.dt)):
            self.engine.step(np.float32([[command]]))
        return self

    def until(self, state: str, most: float = 30.0, command=(0.0, 0.0, 0.0)) -> Scene:
        for _ in range(round(most / self.engine.world.dt)):
            if state in self.states:
                return self
            self.run(self.engine.world.dt, command)
        raise AssertionError(f"nobody is {state} after {most} s: {self.states}")

    @property
    def states(self) -> list[str]:
        return [SOCIAL_STATES[s] for s in self.engine.world.minds.state[0, : self.n]]

    @property
    def place(self) -> np.ndarray:
        people = self.engine.world.pedestrians
        return np.stack([people.x[0, : self.n], people.y[0, : self.n]], -1).astype(float)

    @property
    def robot(self) -> np.ndarray:
        return np.array([self.engine.world.robots.x[0, 0], self.engine.world.robots.y[0, 0]], float)

    @property
    def speed(self) -> np.ndarray:
        people = self.engine.world.pedestrians
        return np.hypot(people.vx[0, : self.n], people.vy[0, : self.n])

    @property
    def distance(self) -> np.ndarray:
        return np.hypot(*(self.place - self.robot).T)

    def off(self, target: np.ndarray, i: int = 0) -> float:
        """Angle between a pedestrian's heading and the direction to a point, rad."""
        angle = math.atan2(*(target - self.place[i])[::-1])
        return abs(math.remainder(self.engine.world.pedestrians.heading[0, i] - angle, math.tau))


def line(n: int = 1, x: float = 0.3, y: float = 1.7) -> tuple[np.ndarray, np.ndarray]:
    """n pedestrians 1.1 m apart, who walk far to the right in parallel."""
    places = np.array([[x, y + 1.1 * k] for k in range(n)])
    return places, places[:, None] + np.array([[11.0, 0.4]])


@pytest.mark.parametrize("dt", [0.05, 0.2])
def test_stress_energy_and_sociability_drift_by_the_second_whatever_the_step(dt):
    walker = Scene(*line(), dt=dt).give(stress=0.5, energy=0.4, social=0.3).run(8.0)
    minds = walker.engine.world.minds
    assert [minds.stress[0, 0], minds.energy[0, 0], minds.social[0, 0]] == pytest.approx([0.42, 0.48, 0.38], abs=1e-4)
    idler = Scene(*line(), dt=dt, state="idle").give(left=1e9, trigger=0.01, stress=0.5, energy=0.1, social=0.3).run(4.0)
    minds = idler.engine.world.minds
    assert [minds.stress[0, 0], minds.energy[0, 0], minds.social[0, 0]] == pytest.approx([0.3, 0.7, 0.5], abs=1e-4)


def test_a_runner_is_twice_as_fast_until_it_is_tired():
    scene = Scene(*line(), state="running", speed=0.9).give(energy=0.4, energy_low=0.2)
    scene.run(2.0)
    assert scene.speed[0] == pytest.approx(1.8, rel=1e-3)
    scene.run(1.8)
    assert scene.states == ["running"]
    scene.run(0.4)
    assert scene.states == ["walking"]
    assert scene.run(1.0).speed[0] == pytest.approx(0.9, rel=1e-3)


def test_who_phones_walks_at_half_the_speed_until_it_has_talked_enough():
    scene = Scene(*line(), state="phone", speed=1.2).give(social=0.5, social_low=0.3).run(2.0)
    assert scene.speed[0] == pytest.approx(0.6, rel=1e-3)
    scene.run(2.3)
    assert scene.states == ["walking"]
    assert scene.run(1.0).speed[0] == pytest.approx(1.2, rel=1e-3)


@pytest.mark.parametrize("dt", [0.05, 0.25])
def test_events_are_a_poisson_process_whatever_the_step(dt):
    n, rate, time = 1500, 0.3, 3.0
    rules = dataclasses.replace(QUIET, pause_rate=rate, pause_time=36_000.0)
    places = np.random.default_rng(1).uniform([-6.0, -3.0], [12.0, 9.0], (n, 2))
    scene = Scene(places, places + [9.0, 0.0], rules, dt=dt, sees_pedestrians=False).give(minimum_time=0.0).run(time)
    expected = 1.0 - math.exp(-rate * time)
    share = np.mean(np.array(scene.states) == "idle")
    assert share == pytest.approx(expected, abs=3.5 * math.sqrt(expected * (1 - expected) / n))


def test_thresholds_are_normal_and_the_shifts_of_a_type_are_applied():
    n = 1500
    places = np.random.default_rng(2).uniform([-6.0, -3.0], [12.0, 9.0], (n, 2))
    for name, kind in pedestrian_types().items():
        character = Scene(places, places, type=name).at_work.character
        for key in ("stress_high", "energy_low", "energy_high", "social_high", "vision"):
            mean, deviation = kind.normals[key]
            drawn = getattr(character, key)[0, :n]
            assert drawn.mean() == pytest.approx(mean, abs=4 * deviation / math.sqrt(n)), (name, key)
            assert drawn.std() == pytest.approx(deviation, rel=0.1), (name, key)
        assert character.minimum_time[0, :n].min() >= 1.0
        assert character.personal_radius[0, :n].min() >= 0.5
        assert np.degrees(np.arccos(character.cosine[0, :n])).mean() == pytest.approx(kind.half_angle[0], abs=0.7)
        assert (character.running[0, :n] == np.float32(kind.running)).all()
    assert pedestrian_types()["elder"].stress_high[0] < pedestrian_types()["adult"].stress_high[0]


@pytest.mark.parametrize("heading", [0.4, 2.5, -1.9])
def test_the_cone_of_vision_is_along_the_heading(heading):
    bearings = np.array([-1.2, -0.9, -0.7, 0.0, 0.6, 0.75, 0.9, 3.1])
    for bearing in bearings:
        angle = heading + bearing
        robot = (2.0 + 3.0 * math.cos(angle), 3.0 + 3.0 * math.sin(angle), 0.0)
        scene = Scene([[2.0, 3.0]], [[2.0, 3.0]], robot=robot, heading=np.array([heading]), reaction="surprised", speed=0.0)
        scene.give(cosine=math.cos(0.8)).run(0.2)
        assert (scene.states == ["surprised"]) == (abs(bearing) < 0.8), bearing


def test_the_surprised_stop_and_look_at_the_robot_and_go_on():
    robot = (4.1, 2.6, 0.0)
    scene = Scene(*line(), robot=robot, reaction="surprised", speed=1.1).until("surprised", 5.0)
    scene.run(1.5)
    assert scene.speed[0] == pytest.approx(0.0, abs=1e-6)
    assert scene.off(scene.robot) < 0.02
    scene.until("walking", 7.0).run(1.0)
    assert scene.speed[0] == pytest.approx(1.1, rel=1e-3)
    assert scene.states == ["walking"], "once is enough for a while"


def test_the_curious_come_to_the_robot_stay_with_it_and_lose_interest():
    scene = Scene(*line(), robot=(4.3, 3.3, 2.0), reaction="curious", speed=1.3).until("interested", 5.0)
    distances = []
    for _ in range(40):
        distances.append(scene.distance[0])
        assert scene.run(0.1).speed[0] <= 0.7 * 1.3 + 1e-3 or len(distances) < 5
    assert distances[0] > 2.5
    assert np.all(np.diff(distances) < 1e-3)
    assert scene.distance[0] == pytest.approx(QUIET.play_distance, abs=0.25)
    scene.run(3.0, (0.5, 0.0, 0.0))
    assert scene.distance[0] == pytest.approx(QUIET.play_distance, abs=0.8), "it follows"
    scene.run(1.5)
    assert scene.off(scene.robot) < 0.3
    scene.until("walking", 20.0).run(4.0)
    assert scene.distance[0] > 2.0


def test_the_scared_move_away_and_slow_down():
    scene = Scene(*line(), robot=(3.2, 2.2, 2.9), reaction="scared", speed=1.3).until("avoiding", 3.0)
    before = scene.distance[0]
    distances = [scene.run(0.2).distance[0] for _ in range(10)]
    assert np.all(np.diff(distances[3:]) > 0)
    assert distances[-1] > before + 0.5
    assert scene.speed[0] == pytest.approx(0.6 * 1.3, rel=1e-2)


def test_the_threatening_step_in_front_of_the_robot():
    scene = Scene([[4.0, 3.0]], [[11.0, 3.4]], robot=(1.2, 1.1, 0.35), heading=np.array([3.6]), reaction="threatening", speed=1.3)
    scene.until("threatening", 2.0, (0.25, 0.0, 0.0)).run(6.0, (0.25, 0.0, 0.0))
    ahead = scene.robot + QUIET.block_distance * np.array([math.cos(0.35), math.sin(0.35)])
    assert np.hypot(*(scene.place[0] - ahead)) < 0.45
    way = scene.place[0] - scene.robot
    assert abs(math.remainder(math.atan2(way[1], way[0]) - 0.35, math.tau)) < 0.3


def test_the_impassive_walk_as_if_there_were_no_robot():
    robot = (2.6, 1.8, math.pi)
    calm = Scene(*line(), robot=robot, reaction="impassive").run(5.0)
    alone = Scene(*line()).run(5.0)
    assert np.array_equal(calm.place, alone.place)
    assert calm.engine.world.minds.stress[0, 0] == 0.0


def test_regular_pedestrians_slow_down_and_keep_away_from_a_robot_in_their_way():
    robot = (4.4, 1.95, math.pi)
    gaps = {}
    for reaction in ("regular", "impassive"):
        scene = Scene(*line(), robot=robot, reaction=reaction)
        seen = []
        for _ in range(60):
            scene.run(0.1, (0.3, 0.0, 0.0))
            seen.append((scene.distance[0], scene.speed[0], scene.states[0]))
        gaps[reaction] = min(d for d, _, _ in seen)
        if reaction == "regular":
            assert any(s == "avoiding" and v < 0.65 for _, v, s in seen)
    assert gaps["regular"] > gaps["impassive"] + 0.3


def test_a_fast_robot_nearby_makes_people_panic_and_run_away():
    scene = Scene(*line(), robot=(1.0, 1.8, 2.9), speed=1.0).give(stress=0.85, stress_high=0.8, minimum_time=1.0)
    scene.until("panicking", 2.0).run(0.6)
    assert scene.speed[0] > 1.3
    away = scene.distance[0]
    assert scene.run(0.2).distance[0] > away
    scene.until("running", 3.0)
    assert scene.engine.world.minds.energy[0, 0] > 0.6


def test_stress_comes_by_the_second_from_a_robot_within_the_personal_radius():
    for dt in (0.05, 0.2):
        scene = Scene([[0.3, 1.7]], [[0.3, 1.7]], robot=(0.9, 1.9, 0.0), dt=dt, state="idle", reaction="surprised")
        scene.give(left=1e9, trigger=0.01, weary=100.0).run(2.0)
        assert scene.engine.world.minds.stress[0, 0] == pytest.approx(2.0 * (0.2 - 0.05), abs=1e-3)


def test_two_who_chat_stand_face_each_other_and_take_turns_then_walk_on():
    rules = dataclasses.replace(QUIET, chat_rate=5.0, chat_time=12.0, turn_time=2.0)
    scene = Scene(*line(2), rules).until("talking", 5.0)
    goal = scene.engine.world.waypoints.list_x[0, :2, 0].copy()
    scene.run(1.2)
    assert sorted(scene.states) == ["listening", "talking"]
    assert scene.speed.max() < 1e-6
    assert max(scene.off(scene.place[1], 0), scene.off(scene.place[0], 1)) < 0.02
    minds, ids = scene.engine.world.minds, scene.engine.world.traits.id
    assert minds.partner[0, :2].tolist() == ids[0, :2][::-1].tolist()
    spoke = set()
    for _ in range(25):
        spoke.add(scene.run(0.2).states.index("talking") if "talking" in scene.states else -1)
    assert {0, 1} <= spoke
    scene.give(chat_rate=0.0).until("walking", 20.0).run(0.2)
    assert scene.states == ["walking", "walking"]
    assert minds.partner[0, :2].tolist() == [-1, -1]
    assert np.array_equal(scene.engine.world.waypoints.x[0, :2], goal)
    assert scene.run(1.0).speed.min() > 0.95


def test_one_tells_a_story_and_those_who_are_near_listen_to_it():
    places = np.array([[2.0, 2.0], [3.1, 2.3], [2.2, 3.2], [1.1, 1.6], [8.0, 6.0]])
    rules = dataclasses.replace(QUIET, story_time=20.0)
    scene = Scene(places, places + [0.05, 0.0], rules, mode=0)
    scene.give(minimum_time=0.0)
    scene.at_work.character.story_rate[0, 0] = 50.0
    scene.until("telling", 2.0).run(2.0)
    assert scene.states == ["telling", "listening", "listening", "listening", "idle"]
    assert max(scene.off(scene.place[0], i) for i in (1, 2, 3)) < 0.02
    assert set(scene.engine.world.minds.partner[0, 1:4].tolist()) == {11}


def test_a_talk_of_the_group_leaves_others_out():
    places = np.array([[2.0, 2.0], [3.1, 2.3], [2.2, 3.2], [1.4, 1.6]])
    scene = Scene(places, places + [0.05, 0.0], QUIET, mode=0, group=np.array([4, 4, 7, 4], np.int32)).give(minimum_time=0.0)
    scene.at_work.character.group_rate[0, 1] = 50.0
    scene.until("talking", 2.0)
    assert sorted(scene.states) == ["idle", "listening", "listening", "talking"] and scene.states[2] == "idle"


def test_those_who_talk_while_walking_walk_on():
    scene = Scene(*line(2), dataclasses.replace(QUIET, stroll_rate=5.0), speed=1.0).until("talking", 5.0).run(1.0)
    assert sorted(scene.states) == ["listening", "talking"]
    assert scene.speed == pytest.approx([1.0, 1.0], rel=1e-3)


def test_the_sociable_go_to_somebody_whom_they_see():
    places = np.array([[0.3, 1.7], [4.0, 2.1]])
    rules = dataclasses.replace(QUIET, seek_rate=5.0, chat_time=60.0)
    scene = Scene(places, places[:, None] + [[5.0, 0.1]], rules, heading=np.array([0.1, 1.5]), speed=1.0, mode=2)
    scene.give(minimum_time=0.0)
    scene.engine.world.minds.social[0, :2] = 0.95, 0.1
    scene.run(0.5)
    assert set(scene.states) == {"talking", "listening"}
    scene.run(5.0)
    assert np.hypot(*(scene.place[0] - scene.place[1])) == pytest.approx(1.0, abs=0.25)


def test_who_stands_idle_makes_room_and_only_then():
    scene = Scene([[2.0, 3.0]], [[9.0, 3.0]], robot=(4.0, 3.1, math.pi), state="idle", heading=np.array([2.0])).give(
        left=1e9, weary=99.0
    )
    scene.engine.world.minds.reaction[0, 0] = REACTIONS.index("impassive")
    scene.at_work.memory.trigger[0, 0] = 0.01
    here = scene.place[0].copy()
    scene.run(1.0)
    assert np.array_equal(scene.place[0], here)
    scene.run(3.0, (0.5, 0.0, 0.0))
    assert scene.place[0][0] < here[0] - 0.3
    assert scene.distance[0] > 0.55


def test_who_has_come_to_the_last_waypoint_stands():
    scene = Scene([[0.3, 1.7]], [[2.1, 2.2]], mode=2).run(6.0)
    assert scene.states == ["idle"]
    assert scene.speed[0] < 1e-6


def test_waypoints_of_the_list_do_not_count_as_reached_while_another_is_sought():
    scene = Scene([[0.3, 1.7]], [[[9.0, 2.0], [9.0, 5.0], [1.0, 6.0]]], mode=0, robot=(3.9, 2.4, 0.0), reaction="curious")
    scene.until("interested", 4.0).run(8.0)
    assert scene.engine.world.waypoints.index[0, 0] == 0


def test_a_timer_and_a_robot_in_the_trigger_zone_end_the_wait_at_the_start():
    habits = (Habits(wait_time=3.0), Habits(trigger_radius=1.5), Habits())
    scene = Scene(*line(3), robot=(-4.0, 2.8, 0.0), habits=habits, reaction="impassive").run(2.5)
    assert scene.states == ["idle", "idle", "walking"]
    assert scene.run(1.0).states == ["walking", "idle", "walking"]
    scene.run(3.0, (1.0, 0.0, 0.0))
    assert scene.states[1] == ("walking" if scene.distance[1] < 1.5 else "idle")
    scene.until("walking").run(1.5, (1.0, 0.0, 0.0))
    assert scene.states == ["walking"] * 3


def test_the_probability_of_a_scenario_is_that_of_every_half_second():
    n, p = 1500, 0.1
    places = np.random.default_rng(3).uniform([-6.0, -3.0], [12.0, 9.0], (n, 2))
    rules = dataclasses.replace(QUIET, chat_time=36_000.0)
    scene = Scene(places, places + [4.0, 0.0], rules, habits=(Habits(chat_probability=p),) * n)
    rates = scene.at_work.character.chat_rate[0, :n]
    assert 1.0 - np.exp(-0.5 * rates) == pytest.approx(p, rel=1e-5)


def chairs(*poses: tuple[float, float, float]) -> tuple[tuple[Furniture, ...], Any]:
    furniture = tuple(Furniture("chair", *pose) for pose in poses)
    polygons = tuple(outline for piece in furniture for outline in piece.polygons())
    return furniture, dataclasses.replace(starts.plane(), polygons=polygons)


def test_one_sits_on_a_chair_the_lowest_id_wins_and_leaves_after_a_while():
    furniture, place = chairs((4.0, 3.0, 0.7))
    rules = dataclasses.replace(QUIET, errand_rate=50.0, errand_time=4.0)
    places = np.array([[2.0, 2.0], [2.6, 4.1], [3.0, 1.0]])
    scene = Scene(places, places[:, None] + [[4.0, 0.3]], rules, place=place, furniture=furniture, first_id=40)
    scene.engine.world.traits.id[0, :3] = 42, 40, 41
    scene.give(minimum_time=0.0).run(0.2)
    assert scene.states == ["walking", "sitting", "walking"]
    scene.run(3.5)
    spots = scene.at_work.spots
    seat = np.array([spots.x[0, 0], spots.y[0, 0]])
    assert place.gap(seat[None])[0] >= 0.3 - 1e-6, "the seat itself is inside the chair"
    assert np.hypot(*(scene.place[1] - seat)) < 0.35
    assert scene.speed[1] < 1e-6
    assert scene.off(scene.place[1] + [math.cos(0.7), math.sin(0.7)], 1) < 0.02
    users = scene.at_work.memory.spot[0, :3].tolist()
    assert users == [-1, 0, -1]
    for _ in range(60):
        scene.run(0.1)
        assert (scene.at_work.memory.spot[0, :3] == 0).sum() <= 1
    assert scene.at_work.memory.spot[0, 1] == -1


def test_a_queue_keeps_its_distances_and_moves_up():
    rules = dataclasses.replace(QUIET, errand_rate=50.0, service_time=6.0)
    places = np.array([[2.0, 2.0], [2.5, 3.0], [3.0, 1.0], [1.0, 2.4]])
    scene = Scene(places, places[:, None] + [[7.0, 0.3]], rules, speed=1.2)
    spots, pose = scene.at_work.spots, (6.0, 3.0, 0.5)
    spots.x[0, 0], spots.y[0, 0], spots.heading[0, 0] = pose
    spots.use[0, 0], spots.count[0] = 3, 1
    scene.give(minimum_time=0.0).run(0.2)
    assert scene.states == ["queueing"] * 4
    memory = scene.at_work.memory
    assert sorted(memory.place[0, :4].tolist()) == [0, 1, 2, 3]
    scene.give(left=60.0).run(7.0)
    back = np.array([math.cos(0.5), math.sin(0.5)])
    for i in range(4):
        expected = np.array(pose[:2]) - 0.7 * memory.place[0, i] * back
        assert np.hypot(*(scene.place[i] - expected)) < 0.35
    order = np.argsort(memory.place[0, :4])
    memory.left[0, order[0]] = 0.05
    scene.run(3.0)
    assert memory.spot[0, order[0]] == -1
    assert memory.place[0, order[1:]].tolist() == [0, 1, 2]
    assert np.hypot(*(scene.place[order[1]] - pose[:2])) < 0.35
    assert scene.states[order[0]] != "queueing"


@dataclasses.dataclass(frozen=True)
class Half:
    """A behaviour before this one, that halves speeds."""

    def attach(self, world: Any, every: int, sees: int) -> Any:
        class Attached:
            def reset(self, number: int, start: Any) -> None:
                pass

            def think(self, generation: int) -> Any:
                def halve(first: int, last: int) -> None:
                    world.traits.speed[first:last] *= np.float32(0.5)

                return halve

        return Attached()


def test_the_speed_of_an_earlier_behaviour_is_multiplied_and_does_not_add_up():
    scene = Scene(*line(), state="running", behaviours=(Half(),)).give(energy=0.9).run(2.0)
    assert scene.speed[0] == pytest.approx(1.0, rel=1e-3)
    assert scene.run(2.0).speed[0] == pytest.approx(1.0, rel=1e-3)


def test_slots_do_not_matter_only_ids_do():
    rng = np.random.default_rng(8)
    n = 20
    places, order = rng.uniform([-2.0, -1.0], [8.0, 7.0], (n, 2)), rng.permutation(n)
    goals = rng.uniform([-6.0, -3.0], [11.0, 8.0], (n, 2, 2))
    lively = SocialStates(chat_rate=0.2, story_rate=0.1, stroll_rate=0.2, pause_rate=0.1)
    runs = []
    for turn in (np.arange(n), order):
        scene = Scene(places[turn], goals[turn], lively, mode=0, robot=(1.0, 1.0, 0.3))
        crowd = dataclasses.replace(scene.start.pedestrians, id=(100 + turn).astype(np.int32))
        scene.engine.reset(0, dataclasses.replace(scene.start, pedestrians=crowd))
        scene.run(15.0, (0.5, 0.0, 0.2))
        back = np.argsort(turn)
        runs.append((scene.place[back], np.array(scene.states)[back]))
    assert np.array_equal(runs[0][0], runs[1][0])
    assert runs[0][1].tolist() == runs[1][1].tolist()
    assert len(set(runs[0][1])) > 2
