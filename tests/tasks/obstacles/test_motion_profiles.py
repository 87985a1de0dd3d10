"""Generated discs move as DynaBARN's paper says, and about as its published trajectories do."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from scipy.stats import ks_2samp

from agora.draft.people import People
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.errors import InputError
from agora.maps.grid import Map
from agora.registry import Named
from agora.seeds import Stream
from agora.tasks.obstacles.motion_profiles import (
    PROFILES,
    SHAPES,
    SIDE,
    MotionProfiles,
    Profile,
    _fitted,
    coded_path,
    coded_times,
    path,
    times,
)
from agora.tasks.obstacles.random import Random
from agora.tasks.suite import load_suite

FIELD = Map.open((-11.0, -12.0), (14.0, 11.0))


def ways(profile, count=150, use="ways"):
    """Time, x and y (N, 3) of so many discs."""
    stream = Stream("test/stage/0", 5, use)
    knots = [path(stream, profile) for _ in range(count)]
    return [np.column_stack((times(stream, k, profile), k)) for k in knots]


def coded(profile, count=150):
    """Time, x and y (N, 3) of so many discs, as the published code makes them."""
    stream = Stream("test/stage/1", 8, "ways")
    knots = [coded_path(stream, profile) for _ in range(count)]
    return [np.column_stack((coded_times(stream, k, profile), k)) for k in knots]


PUBLISHED = PROFILES | {"hard": Profile((4, 5), (1.5, 2.0), (0.1, 0.2))}
"""What the published trajectories were made with, as far as they show it."""


def segments(way):
    """Lengths and speeds of a way."""
    length = np.hypot(*np.diff(way[:, 1:], axis=0).T)
    return length, length / np.diff(way[:, 0])


def task(episode=0):
    made = Task(Surroundings(FIELD), FIELD, 0.35, 0.25, Stream(f"test/stage/{episode}", 3, "task"), People())
    made.robots = [(np.array([11.0, 0.0, np.pi]), np.array([[-9.0, 0.0, np.pi]]))]
    return made


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_knots_lie_on_a_polynomial_of_the_degree_and_on_none_of_a_lower_one(degree):
    rough = 0
    for way in ways(Profile((degree, degree), (0.5, 1.0), (0.0, 0.1)), 60):
        x, y = way[:, 1], way[:, 2]
        residuals = [np.abs(np.polynomial.Polynomial.fit(x, y, d)(x) - y).max() for d in (degree - 1, degree)]
        if len(way) > degree + 1:
            rough += residuals[0] > 1e-4
            assert residuals[1] < 1e-6
    assert rough > 50


@pytest.mark.parametrize("name", PROFILES)
def test_a_disc_goes_from_border_to_border_inside_the_square_in_either_direction(name):
    drawn = ways(PROFILES[name])
    for way in drawn:
        far = np.abs(way[:, 1:]).max(1)
        assert far.max() <= SIDE + 1e-9
        assert far[[0, -1]] == pytest.approx([SIDE, SIDE], abs=1e-9)
        across = np.diff(way[:, 1])
        assert (across > 0).all() or (across < 0).all()
        whole = way[np.abs(way[:, 2]) < SIDE - 1e-9, 1]
        assert whole == pytest.approx(np.rint(whole), abs=1e-9)
    assert 0.35 < np.mean([way[0, 1] < way[-1, 1] for way in drawn]) < 0.65


@pytest.mark.parametrize("name", PROFILES)
def test_segment_speeds_are_drawn_about_a_mean_between_the_limits_and_cut_there(name):
    profile = PROFILES[name]
    low, high = profile.speed
    speed = np.concatenate([segments(way)[1] for way in ways(profile, 300)])
    assert speed.min() >= low - 1e-9 and speed.max() <= high + 1e-9
    assert speed.mean() == pytest.approx((low + high) / 2, abs=0.02)
    rng = np.random.default_rng(1)
    deviation = rng.uniform(*profile.deviation, 20_000)
    expected = np.clip(rng.normal(rng.uniform(low, high, 20_000), deviation), low, high)
    assert ks_2samp(speed.round(6), expected.round(6)).statistic < 0.04


def test_without_deviation_and_range_every_segment_has_the_one_speed():
    for way in ways(Profile((0, 3), (0.8, 0.8), (0.0, 0.0)), 20):
        assert segments(way)[1] == pytest.approx(0.8)


def test_a_disc_moves_on_straight_lines_at_constant_speed_and_jumps_back_at_the_end():
    made = task()
    MotionProfiles(count=(3, 3), difficulty=("hard",)).place(made)
    discs = made.replay
    for i in range(3):
        knots = slice(discs.first[i], discs.first[i + 1])
        time, place = discs.knot_time[knots], np.column_stack((discs.knot_x[knots], discs.knot_y[knots]))
        k = len(time) // 2
        middle = discs.at((time[k] + time[k + 1]) / 2)
        assert middle.position[i] == pytest.approx((place[k] + place[k + 1]) / 2)
        assert middle.velocity[i] == pytest.approx((place[k + 1] - place[k]) / (time[k + 1] - time[k]))
        assert discs.at(time[-1] + 1e-6).position[i] == pytest.approx(place[0], abs=1e-4)
        assert discs.period[i] == time[-1]


def test_medium_is_faster_and_more_bent_than_easy_and_hard_faster_and_less_steady_than_medium():
    speed, spread, length = {}, {}, {}
    for name, profile in PROFILES.items():
        drawn = [segments(way) for way in ways(profile, 200)]
        speed[name] = np.mean([v.mean() for _, v in drawn])
        spread[name] = np.mean([v.std() for _, v in drawn])
        length[name] = np.mean([d.sum() for d, _ in drawn])
    assert speed["easy"] + 0.3 < speed["medium"] < speed["hard"] - 0.2
    assert spread["easy"] < spread["medium"] < spread["hard"]
    assert 1.5 * length["easy"] < length["medium"]


def test_the_number_of_discs_the_difficulty_and_the_phases_are_drawn():
    counts, quick = set(), []
    for episode in range(40):
        made = task(episode)
        MotionProfiles(count=(2, 5), difficulty=("easy", "hard"), radius=0.4, random_phase=True).place(made)
        counts.add(made.replay.count)
        assert made.replay_radius == 0.4 and made.phase.shape == (made.replay.count,)
        assert (made.phase >= 0).all() and (made.phase < made.replay.period).all()
        quick += [made.replay.only(made.replay.id == k).mean_speed() > 1.1 for k in made.replay.id]
    assert counts == {2, 3, 4, 5}
    assert 0.35 < np.mean(quick) < 0.65
    nobody = task()
    MotionProfiles(count=(0, 0)).place(nobody)
    assert nobody.replay is None


def test_simulated_pedestrians_can_be_there_too_and_keep_their_own_ids():
    made = task()
    MotionProfiles(count=(4, 4), beside=Named("random", Random(dynamic=(3, 3)))).place(made)
    assert len(made.pedestrians) == 3
    assert made.replay.id.tolist() == [4, 5, 6, 7]
    nested = Named("motion_profiles", MotionProfiles(count=(1, 1)))
    with pytest.raises(InputError, match="'motion_profiles': `beside`, .*, already has recorded pedestrians"):
        MotionProfiles(beside=nested).place(task())


def test_the_same_stream_gives_the_same_discs_and_another_one_others():
    def knots(episode):
        made = task(episode)
        MotionProfiles(count=(5, 9), difficulty=("medium",)).place(made)
        return made.replay.knot_x

    assert np.array_equal(knots(1), knots(1))
    assert not np.array_equal(knots(1)[:8], knots(2)[:8])


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": (3, 2)},
        {"count": (-1, 2)},
        {"difficulty": ()},
        {"radius": 0.0},
        {"count": (0, 10**6)},
        {"discs": ((0.0, 11.0),)},
        {"discs": ((0.0, float("nan")),)},
        {"discs": ((0.0, 0.1),) * 65},
    ],
)
def test_values_that_make_no_sense_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MotionProfiles(**wrong)


@pytest.mark.parametrize("wrong", [{"degree": (3, 2)}, {"degree": (1, 40)}, {"speed": (0.0, 1.0)}, {"deviation": (-0.1, 1.0)}])
def test_so_are_those_of_a_profile(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Profile(**({"degree": (1, 2), "speed": (0.5, 1.0), "deviation": (0.0, 0.1)} | wrong))


def test_the_suite_has_as_many_discs_as_the_challenge_and_needs_no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path))
    suite = load_suite("dynabarn_generated")
    for stage, (least, most) in {"easy": (5, 14), "medium": (15, 19), "hard": (20, 24)}.items():
        starts = [suite.start(stage, episode) for episode in (0, 19)]
        for start in starts:
            assert least <= start.crowd_size <= most and start.replay_radius == 0.5
            assert start.robots[0].pose == pytest.approx([11.0, 0.0, np.pi])
            assert float(start.map.gap(start.robots[0].goals[-1][None, :2])[0]) > 0.5
        assert not np.array_equal(starts[0].replay.knot_x[:4], starts[1].replay.knot_x[:4])


@pytest.mark.parametrize("name", PROFILES)
def test_as_coded_a_disc_goes_from_border_to_border_over_ten_evenly_spaced_values_of_x(name):
    drawn, on = coded(PROFILES[name]), 0
    grid = np.linspace(-SIDE, SIDE, 10)
    for way in drawn:
        far = np.abs(way[:, 1:]).max(1)
        assert far.max() == SIDE and far[[0, -1]].tolist() == [SIDE, SIDE] and (far[1:-1] < SIDE).all()
        across = np.diff(way[1:-1, 1])
        assert (across >= 0).all() or (across <= 0).all()
        inner = way[1:-1, 1:]
        free = ~np.isclose(inner[:, :1], grid).any(1)
        assert free.sum() <= PROFILES[name].degree[1] + 1, "between the ends there are only sampled points besides"
        on += np.isclose(inner[free], np.rint(inner[free])).all(1).mean() if free.any() else 1.0
    assert on / len(drawn) > 0.99, "which are integers"
    assert 0.4 < np.mean([way[0, 1] < way[-1, 1] for way in drawn]) < 0.6


def test_as_coded_speeds_are_of_a_grid_without_the_most_with_one_mean_and_one_deviation_a_disc():
    profile = Profile((1, 2), (0.5, 1.0), (0.01, 0.01))
    drawn = [segments(way)[1] for way in coded(profile, 300)]
    speeds = np.concatenate(drawn)
    assert set(speeds.round(6)) == {0.5, 0.6, 0.7, 0.8, 0.9}
    assert all(np.ptp(own) < 1e-9 for own in drawn), "a deviation of 0.01 is a hundredth of the grid: every disc has one speed"
    shares = [np.mean(np.isclose([own[0] for own in drawn], speed)) for speed in (0.5, 0.6, 0.7, 0.8, 0.9)]
    # a mean of U(0.5, 1.0) rounded to 0.1 is an end half as often as an inner value; 1.0, which the grid lacks, becomes 0.9
    assert shares == pytest.approx([0.1, 0.2, 0.2, 0.2, 0.3], abs=0.08)
    wide = [segments(way)[1] for way in coded(Profile((1, 2), (0.5, 1.0), (0.1, 0.1)), 300)]
    assert np.mean([np.ptp(own) > 0.15 for own in wide]) > 0.6


def test_as_coded_points_with_the_same_x_make_the_polynomial_of_numpys_fit():
    for x, y in (
        ([3.0, 3.0], [1.0, 5.0]),
        ([-4.0, 2.0, 2.0], [7.0, -1.0, 3.0]),
        ([0.0, 5.0, 0.0], [2.0, 2.0, 1.0]),
        ([1.0, 4.0], [2.0, -3.0]),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.RankWarning)
            expected = np.polyfit(x, y, len(x) - 1)
        assert _fitted(np.array(x), np.array(y), len(x) - 1) == pytest.approx(expected, abs=1e-9)


def test_as_coded_the_most_discs_are_never_reached():
    counts = set()
    for episode in range(40):
        made = task(episode)
        MotionProfiles(count=(2, 5), variant="code").place(made)
        counts.add(made.replay.count)
        assert (np.diff(made.replay.knot_time)[np.diff(made.replay.knot_time) < 0] < -5.0).all()
    assert counts == {2, 3, 4}
    with pytest.raises(ValueError, match="count must be .min, max. with max above min if variant is code, got .4, 4."):
        MotionProfiles(count=(4, 4), variant="code")


def test_the_tree_has_few_or_many_discs_of_easy_or_hard_motion():
    suite = load_suite("dynabarn_tree")
    shapes = {"easy": "few easy", "medium_few_hard": "few hard", "medium_many_easy": "many easy", "hard": "many hard"}
    assert [stage.name for stage in suite.stages] == list(shapes)
    ranges = {"few": (5, 9), "many": (10, 19)}
    for name, shape in shapes.items():
        counts, speeds = [], []
        for episode in range(8):
            start = suite.start(name, episode)
            counts.append(start.crowd_size)
            discs = start.replay
            for i in range(discs.count):
                knots = slice(discs.first[i], discs.first[i + 1])
                way = np.column_stack((discs.knot_time[knots], discs.knot_x[knots], discs.knot_y[knots]))
                speeds += list(segments(way)[1])
        amount, motion = shape.split()
        assert ranges[amount][0] <= min(counts) < max(counts) <= ranges[amount][1]
        low, high = {"easy": (0.5, 1.0), "hard": (1.0, 2.0)}[motion]  # Table I
        assert low - 1e-6 <= min(speeds) < low + 0.05 and high - 0.05 < max(speeds) <= high + 1e-6


SHAPED = MotionProfiles(count=(6, 6), difficulty=("hard",), radius=0.25, shapes=tuple(SHAPES), random_phase=True)


def middles(discs):
    """A function of time that says where the middle disc of each bar is, by body."""
    bars = [number for number in np.unique(discs.body) if (discs.body == number).sum() == len(SHAPES["bar"])]
    return {number: discs.only(np.arange(discs.count) == np.flatnonzero(discs.body == number)[2]) for number in bars}


def test_other_shapes_ride_on_the_trajectories_of_the_cylinders_from_the_same_moments():
    plain, shaped, bars = MotionProfiles(count=(6, 6), difficulty=("hard",), random_phase=True), SHAPED, 0
    for episode in range(6):
        cylinders, bodies = task(episode), task(episode)
        plain.place(cylinders)
        shaped.place(bodies)
        assert bodies.replay_radius == 0.25 and bodies.replay.count == len(bodies.phase)
        for number, middle in middles(bodies.replay).items():
            cylinder = cylinders.replay.only(np.arange(6) == number)
            for time in np.linspace(0.0, 9.0, 40):
                assert middle.at(time).position == pytest.approx(cylinder.at(time).position, abs=3e-3)
            of = bodies.replay.body == number
            assert set(bodies.phase[of]) == {cylinders.phase[number]} and set(bodies.replay.period[of]) == set(cylinder.period)
            bars += 1
    assert 4 <= bars <= 22, "a third of 36"


def test_the_discs_of_a_shape_leave_no_gap_and_a_shape_is_as_large_as_it_says():
    for shape, centres in SHAPES.items():
        apart = np.hypot(*np.moveaxis(np.array(centres)[:, None] - np.array(centres), -1, 0))
        np.fill_diagonal(apart, np.inf)
        assert apart.min(1).max() < 0.45, f"discs of 0.25 m overlap all along the {shape}"
    reach = {shape: np.ptp(np.array(centres), axis=0) + 0.5 for shape, centres in SHAPES.items()}
    assert reach["bar"] == pytest.approx([2.0, 0.5])
    assert reach["l"] == pytest.approx([1.5, 1.5])
    assert reach["triangle"][1] == pytest.approx(1.25)
    corners = np.array(SHAPES["triangle"])[[0, 3, 5]]
    assert np.hypot(*(corners - np.roll(corners, 1, 0)).T) == pytest.approx([0.75] * 3, abs=1e-3)
    assert np.hypot(*corners.T) == pytest.approx([0.433] * 3, abs=1e-3), "the triangle turns about its centre"


def test_a_shape_of_ones_own_takes_the_place_of_a_named_one_and_one_disc_is_no_body():
    own = task()
    MotionProfiles(count=(3, 3), radius=0.2, discs=((0.0, 0.0), (0.3, -0.1)), shapes=("bar",)).place(own)
    assert own.replay.body.tolist() == [0, 0, 1, 1, 2, 2]
    assert own.replay.id.tolist() == [1, 2, 3, 4, 5, 6]
    single, plain, none = task(), task(), task()
    MotionProfiles(count=(0, 0), shapes=("l",)).place(none)
    assert none.replay is None
    MotionProfiles(count=(1, 1), discs=((0.0, 0.0),)).place(single)
    MotionProfiles(count=(1, 1)).place(plain)
    assert single.replay.body.tolist() == plain.replay.body.tolist() == [-1]


def test_the_suite_of_shapes_is_the_tree_with_other_shapes():
    tree, shapes = load_suite("dynabarn_tree"), load_suite("dynabarn_shapes")
    assert [stage.name for stage in shapes.stages] == [stage.name for stage in tree.stages]
    sizes = set()
    for stage in tree.stages:
        for episode in (0, 41):
            cylinders, bodies = tree.start(stage.name, episode), shapes.start(stage.name, episode)
            numbers = np.unique(bodies.replay.body)
            assert len(numbers) == cylinders.crowd_size
            sizes |= {int((bodies.replay.body == number).sum()) for number in numbers}
            for number, middle in middles(bodies.replay).items():
                there = cylinders.replay.only(np.arange(cylinders.crowd_size) == number).at(3.7).position
                assert middle.at(3.7).position == pytest.approx(there, abs=3e-3)
    assert sizes == {5, 6, 7}


def test_the_suite_of_obstacles_that_yield_has_the_cylinders_of_the_tree_early_and_late():
    tree, reactive = load_suite("dynabarn_tree"), load_suite("dynabarn_reactive")
    for stage in reactive.stages:
        difficulty, _, when = stage.name.partition("_")
        yields = stage.crowd.sidestep
        assert (yields.horizon, yields.share) == {"early": (2.0, 1.0), "late": (0.5, 1.0), "half": (2.0, 0.5)}[when]
        for episode in (3, 58):
            found, cylinders = reactive.start(stage.name, episode), tree.start(difficulty, episode)
            assert np.array_equal(found.replay.knot_x, cylinders.replay.knot_x)
            assert np.array_equal(found.replay_phase, cylinders.replay_phase)


@pytest.mark.data
def test_as_coded_discs_cannot_be_told_from_the_published_ones(data):
    published = json.loads((data / "dynabarn" / "worlds.json").read_text())["trajectories"]
    for name, profile in PUBLISHED.items():
        real = [np.array(v["waypoints"]) for key, v in published.items() if key.startswith(name)]
        made = coded(profile, 600)
        told = 1.36 * np.sqrt((len(real) + len(made)) / (len(real) * len(made)))  # Kolmogorov-Smirnov, 5 %
        for of in (len, lambda w: segments(w)[0].sum(), lambda w: w[-1, 0]):
            assert ks_2samp([of(w) for w in real], [of(w) for w in made]).statistic < told
        speeds = [np.concatenate([segments(w)[1] for w in some]).round(1) for some in (real, made)]  # times are of 2 decimals
        assert ks_2samp(*speeds).statistic < 0.05


@pytest.mark.data
def test_lengths_durations_and_speeds_are_those_of_the_published_trajectories(data):
    published = json.loads((data / "dynabarn" / "worlds.json").read_text())["trajectories"]
    # what the code does otherwise (ten values of x; coarse speeds; hard is faster) shows for medium and hard
    most = {"easy": (0.11, 0.15, 0.24), "medium": (0.34, 0.29, 0.27), "hard": (0.2, 0.38, 0.53)}
    for name, bounds in most.items():
        real = [np.array(v["waypoints"]) for key, v in published.items() if key.startswith(name)]
        made = ways(PROFILES[name], 600)
        for bound, of in zip(bounds, (lambda w: segments(w)[0].sum(), lambda w: w[-1, 0], lambda w: segments(w)[1]), strict=True):
            samples = [np.concatenate([np.atleast_1d(of(w)) for w in some]) for some in (real, made)]
            assert ks_2samp(*samples).statistic < bound
