"""The social force window planner: its plain twin, work by hand, people who give way, walls, contact and the goal."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.planners.local.driving import drive, limits, look, moved
from tests.planners.local.dwa.test_planner import corners_of, row_of
from tests.planners.local.mppi.test_planner import people
from tests.planners.local.social_force_window.twin import scores, social_force

from agora.core.recording import Reason
from agora.costmap.window import Window, inscribed_radius
from agora.errors import InputError
from agora.planners.local.dwa import Dwa
from agora.planners.local.social_force_window import SocialForceWindow
from agora.planners.presets import named_planner
from agora.testing import observation

START = (2.3, -4.1, 0.6)


def small(**fields):
    return SocialForceWindow(**{"window": Window(size=8.05, sources=("map",))} | fields)


@pytest.mark.parametrize(
    "kind", [{}, {"max_vy": 0.6}, {"turning_radius": 0.7, "corners": 4}], ids=["differential", "holonomic", "car"]
)
def test_the_kernel_drives_the_sample_that_its_plain_twin_scores_best(kind):
    planner = SocialForceWindow(window=Window(size=5.2, sources=("map",)), n_linvels=2, n_angvels=2, goal_distance=0.01)
    close = 0
    for seed, rows in ((4, 4), (5, 3)):
        seen = observation(rows, 4, seed=seed, window=planner.window, **kind)
        answer, fastest = planner.act(seen, {}), planner._fastest(seen)
        for n in range(rows):
            row, others = row_of(seen, n), []
            for tracks in (seen.pedestrians, seen.robots):
                for q in np.flatnonzero(tracks.present[n]):
                    place, velocity = tracks.position[n, q].astype(float), tracks.velocity[n, q].astype(float)
                    others.append((place, velocity, float(tracks.radius[n, q]), tracks is seen.pedestrians))
            corners = corners_of(planner, seen, n)
            known = (float(fastest[n]), float(seen.radius[n]), float(inscribed_radius(corners[None])[0]), others)
            found = scores(planner, *known, corners=corners, **row)
            gain = np.array(row["limits"]["acceleration"]) * row["dt"]
            least = min(found.values())
            good = [wanted for wanted, score in found.items() if score <= least + 2e-3 * abs(least)]
            if least == np.inf:
                good = [(0.0, 0.0)]
            for v, omega in good:
                twist = np.clip((v, 0.0, omega), row["twist"] - gain, row["twist"] + gain)
                if (radius := row["limits"]["turning_radius"]) > 0:
                    twist[2] = np.clip(twist[2], -abs(twist[0]) / radius, abs(twist[0]) / radius)
                if np.abs(twist - answer.twists[n]).max() < 2e-3:
                    close += 1
                    break
    assert close >= 6  # a point on a cell's border may fall to either side


def test_the_work_against_a_person_straight_ahead_is_that_of_the_closed_form():
    """Head-on nothing pushes aside: the force is exp(-d / B) with B = gamma (2 (v + u) + 1), and is counted on both."""
    planner = small()
    assert social_force(np.array((3.0, 0.0)), np.array((1.5, 0.0)), planner) == pytest.approx(
        (-2.1 * math.exp(-3.0 / (0.35 * 4.0)), 0.0)
    )
    seen = look((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (20.0, 0.0, 0.0), path=[(0, 0), (20, 0)], size=8.05)
    seen = replace(seen, pedestrians=people((3.0, 0.0, -1.0, 0.0, 0.25)))
    one = small(n_linvels=1, n_angvels=1, sim_time=0.25, sfm_obstacle_weight=0.0)
    row = row_of(seen, 0)
    row["limits"]["acceleration"] = (1e-6, 1.0, 1e-6)  # whatever is wanted, it goes on at 0.5 m/s
    someone = [(np.array((3.0, 0.0)), np.array((-1.0, 0.0)), 0.25, True)]
    given = dict(corners=corners_of(one, seen, 0), **row)
    with_, without = (scores(one, 1.0, 0.3, 0.3, who, **given)[1.0, 0.0] for who in (someone, []))
    gap = 3.0 - 0.25 * 1.5
    assert with_ - without == pytest.approx(2.0 * 2.0 * 2.1 * math.exp(-gap / (0.35 * (2.0 * 1.5 + 1.0))), rel=1e-6)


def test_on_an_empty_map_it_drives_straight_at_top_speed_and_stops_at_the_goal():
    goal = (START[0] + 6.0 * math.cos(0.6), START[1] + 6.0 * math.sin(0.6), 0.6)
    poses, twists = drive(small(), START, goal, 10.0)
    assert twists[:, 0].max() == pytest.approx(1.0)
    aside = (poses[:, :2] - START[:2]) @ (-math.sin(0.6), math.cos(0.6))
    assert np.abs(aside).max() < 0.01
    assert math.dist(poses[-1, :2], goal[:2]) < 0.11
    assert abs(twists[-1, 0]) < 0.02


def test_who_has_the_goal_behind_turns_round():
    goal = (START[0] - 4.0 * math.cos(0.6), START[1] - 4.0 * math.sin(0.6), 0.0)
    poses, _ = drive(small(), START, goal, 12.0)
    assert math.dist(poses[-1, :2], goal[:2]) < 0.11


def test_the_speed_is_that_at_which_it_stays_in_the_window():
    seen = look((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (9.0, 0.0, 0.0), robot=limits(max_vx=9.0), size=8.05)
    fastest = small()._fastest(seen)[0]
    assert fastest == pytest.approx((0.5 * 8.05 - 0.3 - 0.1) / 1.5, abs=0.02)


def passing(planner, gives_way=False, speed=-0.8, seconds=7.0, beside=0.1, dt=0.1):
    """Closest gap and where it steps aside, of a robot that meets a person head-on, somewhat to its left."""
    pose, twist, memory, person = (0.0, 0.0, 0.0), (0.6, 0.0, 0.0), {}, np.array((5.0, beside))
    gap, ways = np.inf, []
    for _ in range(round(seconds / dt)):
        disc = [(*person, 0.25)] if isinstance(planner, Dwa) else []
        seen = look(pose, twist, (9.0, 0.0, 0.0), path=np.linspace((0, 0), (9, 0), 90), dt=dt, size=8.05, discs=disc)
        seen = replace(seen, pedestrians=people((*person, speed, 0.0, 0.25)))
        answer = planner.act(seen, memory)
        twist, memory = tuple(answer.twists[0].tolist()), answer.memory
        pose, person = moved(pose, twist, dt), person + dt * np.array((speed, 0.0))
        gap = min(gap, math.dist(pose[:2], person) - 0.55)
        ways.append(pose)
    return gap, np.array(ways)


def test_head_on_it_steps_to_the_free_side_and_stays_farther_away_than_the_dynamic_window_approach():
    gap, ways = passing(small())
    plain, others = passing(Dwa(window=Window(size=8.05)))
    assert ways[:, 1].min() < -0.3 and ways[:, 1].max() < 0.2
    assert gap > plain + 0.1
    early, late = (np.argmax(np.abs(way[:, 1]) > 0.1) for way in (ways, others))
    assert early < late


def test_more_weight_of_the_work_is_more_distance():
    gaps = [passing(small(social_weight=weight))[0] for weight in (0.0, 0.5, 2.0)]
    assert gaps[0] < gaps[1] < gaps[2]


def test_mirrored_scenes_have_mirrored_commands():
    for aside, vy in ((0.3, -0.4), (-0.15, 0.1)):
        answers = []
        for side in (1.0, -1.0):
            seen = look(
                (0.025, 0.025, 0.0), (0.4, 0.0, 0.2 * side), (6.0, 0.025, 0.0), discs=[(1.9, 0.025 + 0.9 * side, 0.3)], size=8.05
            )
            seen = replace(seen, pedestrians=people((1.8, 0.025 + aside * side, -0.8, vy * side, 0.25)))
            answers.append(small().act(seen, {}).twists[0])
        assert answers[0] == pytest.approx(answers[1] * (1, -1, -1), abs=1e-4)
        assert np.abs(answers[0][2]) > 0.1


def test_a_turned_scene_has_the_same_command():
    """The robot's velocity enters the forces in the map's frame, whichever way it heads."""
    answers = []
    for heading in (0.0, 2.1):
        turn = np.array(((math.cos(heading), -math.sin(heading)), (math.sin(heading), math.cos(heading))))
        seen = look((0.0, 0.0, heading), (0.8, 0.0, 0.0), (*turn @ (7.0, 0.0), 0.0), size=8.05)
        seen = replace(seen, pedestrians=people((*turn @ (2.2, 0.6), *turn @ (-0.7, -0.2), 0.25)))
        answers.append(small().act(seen, {}).twists[0])
    assert answers[0] == pytest.approx(answers[1], abs=1e-4)


def test_the_point_to_head_for_is_not_behind_a_wall():
    """Round a wall's end the straight way to the point 1.25 m along the path is shut: a nearer one is taken."""
    path = [(0.0, 0.0), (1.5, 0.0), (1.5, 0.5), (0.0, 0.5)]
    wall = [(x, 0.25, 0.02) for x in np.arange(-2.0, 1.1, 0.04)]
    seen = look((0.9, -0.3, 0.0), (0.5, 0.0, 0.0), (-1.5, 0.8, 0.0), path=path, discs=wall, radius=0.1, size=8.05)
    seen = replace(seen, radius=np.array([0.1], np.float32))
    assert small().act(seen, {}).twists[0, 0] > 0.3


def test_all_samples_in_contact_means_to_brake():
    seen = replace(look(START, (0.6, 0.0, 0.0), (9.0, -2.0, 0.0)), pedestrians=people((3.0, -3.6, -2.0, -1.4, 0.3)))
    assert small().act(seen, {}).twists[0] == pytest.approx((0.6 - 2.5 * 0.05, 0.0, 0.0), abs=0.2)


def test_it_drives_out_from_under_a_person_who_touches_it():
    seen = replace(look(START, (0.0, 0.0, 0.0), (9.0, 0.5, 0.0)), pedestrians=people((2.0, -4.4, 0.0, 0.0, 0.3)))
    assert small().act(seen, {}).twists[0, 0] > 0.05


def test_in_a_wall_it_brakes_and_says_why():
    answer = small().act(look(START, (0.2, 0.0, 0.1), (9.0, -2.0, 0.0), discs=[(2.65, -4.1, 0.1)]), {})
    assert answer.twists[0] == pytest.approx((0.2 - 2.5 * 0.05, 0.0, 0.0), abs=1e-6)
    assert answer.notes["reason"][0] == Reason.START_IN_CONTACT


def test_the_preset_of_the_package_has_its_limits():
    planner = named_planner("social_force_window_upo")[1].part
    assert (planner.max_trans_vel, planner.max_trans_acc, planner.wp_tolerance) == (0.8, 0.15, 1.0)
    twists = [drive(replace(planner, max_trans_acc=2.5, wp_tolerance=far), START, (8.0, -0.2, 0.0), 4.0)[1] for far in (1.0, None)]
    assert [one[:, 0].max() for one in twists] == pytest.approx([0.6, 0.8])  # a point at 1 m is overshot


def test_absurd_fields_are_refused_by_name():
    for fields in ({"n_linvels": 0}, {"sim_time": 0.0}, {"social_weight": -1.0}, {"gamma": 0.0}):
        with pytest.raises(InputError, match=next(iter(fields))):
            SocialForceWindow(**fields)
