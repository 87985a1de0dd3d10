"""The motion of people as parameters that can be fitted, and the quantities by which it is fitted."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.ways import line, scene

from agora.config import dump, parse
from agora.draft.stage import CrowdSettings
from agora.draft.steps import Steps
from agora.pedestrians.behaviours.groups import Groups
from agora.pedestrians.models.anticipation import Anticipation
from agora.registry import Named
from agora.validation.calibrate import Calibrated, Calibration, CalibrationTrial, objective, preset
from agora.validation.crowd import SimulatedCrowd, simulate
from agora.validation.motion import MOTION, Motion, held_out, motion, turning
from agora.validation.scores import Recorded
from agora.validation.stretches import DURATION, SAMPLES, STEP, of_scene
from agora.validation.window import window

CROWD = SimulatedCrowd.of_suites(Anticipation())


@pytest.fixture(scope="module")
def cut():
    """Two stretches with a pair and a stranger."""
    ways = [line((-4.0, y), (1.1 + 0.05 * k, 0.1)) for k, y in enumerate((0.0, 0.9, 4.0))]
    return [dataclasses.replace(of_scene(scene(*ways, groups=[(1, 2)]))[0], scene=name) for name in ("here", "there")]


def circles(count, rate, speed=1.0):
    """Positions (20, N, 2) of people who turn at a rate, rad/s, 10 m apart."""
    angle = np.arange(SAMPLES)[:, None] * STEP * rate + np.zeros(count)
    return np.stack([np.sin(angle), 1.0 - np.cos(angle) + 10.0 * np.arange(count)], -1) * (speed / rate)


def test_turning_is_the_angle_between_two_steps(cut):
    assert turning(cut) == (0.0, 0.0)
    walked = [circles(3, 0.5), circles(3, 0.5)]
    assert turning(cut, walked) == (11.0, 11.0)  # 0.2 rad
    assert np.isnan(turning(cut, [circles(3, 0.5, 0.3)] * 2)).all(), "people who hardly walk do not count"


def test_samples_of_people_who_walk_straight_and_in_circles(cut):
    straight, bent = motion(window(cut[0])), motion(window(cut[0], circles(3, 0.5)))
    assert straight["turning"] == pytest.approx(0.0, abs=1e-6) and bent["turning"] == pytest.approx(np.degrees(0.2), rel=1e-3)
    assert straight["pace change"] == pytest.approx(0.0, abs=1e-9) and straight["bend"] == pytest.approx(0.0, abs=1e-9)
    assert (bent["bend"] > 0.5).all()
    apart = np.hypot(*(cut[0].position[:, 0] - cut[0].position[:, 1]).T)
    smooth = (apart[5:-2] + 2.0 * apart[6:-1] + apart[7:]) / 4.0
    assert straight["group drift"] == pytest.approx(smooth.std(), rel=0.05)
    assert len(straight["group drift"]) == 2, "a person who walks alone has no group"


def test_parameters_reach_the_crowd_and_the_keys_of_a_suite():
    own = Motion(lateral=1.3, pace=0.2, pace_time=5.0, direction=0.05, direction_time=7.0, spacing=0.7, drift=0.1, drift_time=9.0)
    crowd = own.crowd(CROWD)
    assert crowd.model == CROWD.model and crowd.steps == Steps(lateral=1.3)
    assert crowd.behaviours == (Groups(spacing=0.7, drift=0.1, drift_time=9.0),)
    settings = parse(dump(own.block()), CrowdSettings)
    assert settings.unsteady == crowd.unsteady and settings.steps == crowd.steps
    assert settings.behaviours[0].part == crowd.behaviours[0]
    assert Motion().crowd(CROWD) == dataclasses.replace(CROWD, unsteady=Motion().crowd(CROWD).unsteady)


def test_the_motion_by_which_people_walk_is_nearest_to_them(cut):
    true = Motion(spacing=1.0, drift=0.02, drift_time=0.5, pace=0.02, direction=0.02)
    walked = [simulate(true.crowd(CROWD), [one.start(range(3))], DURATION, every=8)[0][..., :2] for one in cut]
    people = Recorded([dataclasses.replace(one, position=way) for one, way in zip(cut, walked, strict=True)])
    found = [objective(people, own.crowd(CROWD), MOTION) for own in (true, Motion(spacing=0.6), Motion(pace=0.3))]
    assert found[0] < 1e-9 < 0.1 * min(found[1:])


def test_the_table_of_scenes_has_a_line_for_each_crowd(cut):
    people = Recorded(cut)
    table = held_out(people, {"one": CROWD, "other": {"here": CROWD, "there": CROWD}}, []).splitlines()
    assert [line.split(" | ")[:2] for line in table[2:5]] == [["| here", "recorded"], ["| here", "one"], ["| here", "other"]]
    assert len(table) == 8 and table[3].split(" | ")[3:] == table[4].split(" | ")[3:]


def test_the_preset_of_a_motion_is_read_as_keys_of_a_crowd():
    calibration = Calibration(Named("motion", Motion()), CROWD, weights=dict(MOTION))
    better = Named("motion", Motion(drift=0.11))
    text = preset(
        calibration, Calibrated([CalibrationTrial({}, 0.4), CalibrationTrial({"drift": 0.11}, 0.3)], 1, better), "two scenes"
    )
    assert "0.400 before, 0.300 after" in text and "drift: 0.11" in text
    assert calibration.crowd(better).behaviours[0].drift == 0.11
