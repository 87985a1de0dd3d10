"""LfLH drives by its policy, turns where the path leads aside, and neither drives nor turns into what its scan shows."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from agora.core.recording import Outcome
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.planners.learned.lflh import Lflh
from agora.policies.policy import Policy, TrainedRobot
from agora.policies.scan_and_aim import ScanAndAim
from agora.robots.model import load_robot
from agora.tasks.suite import load_suite
from agora.testing.scenes import observation

JACKAL = load_robot("jackal_barn")


@pytest.fixture
def planner(tmp_path):
    """A policy that always drives 1 m/s ahead."""
    layer = torch.nn.Linear(11, 2)
    torch.nn.init.zeros_(layer.weight)
    layer.bias.data = torch.tensor([0.5, 0.0])
    see = ScanAndAim(beams=9)
    Policy.of_torch(see, [layer], {"label": "small"}, TrainedRobot.of(JACKAL)).save(tmp_path / "one.safetensors")
    return Lflh(str(tmp_path / "one.safetensors"))


def before(bearings: list[float], walls: list[tuple[float, float]], **given: Any) -> Any:
    """Robots at the origin whose paths lead straight to these bearings; each has a disc of 0.1 m at this place, in its frame."""
    rows = len(bearings)
    o = observation(rows=rows, beams=JACKAL.lidar.beams)
    angles = np.linspace(JACKAL.lidar.angle_min, JACKAL.lidar.angle_max, JACKAL.lidar.beams).astype(np.float32)
    scan = np.full((rows, len(angles)), 30.0, np.float32)
    for n, (x, y) in enumerate(walls):
        away, aside = np.hypot(x, y), np.arctan2(y, x) - angles
        hit = (np.abs(away * np.sin(aside)) < 0.1) & (np.cos(aside) > 0.0)
        scan[n, hit] = away * np.cos(aside[hit]) - np.sqrt(0.01 - (away * np.sin(aside[hit])) ** 2)
    ends = 5.0 * np.stack([np.cos(bearings), np.sin(bearings)], -1)
    path = np.stack([np.zeros((rows, 2)), ends], 1).astype(np.float32)
    return dataclasses.replace(
        o,
        pose=np.zeros((rows, 3), np.float32),
        goal=np.column_stack([ends, np.zeros(rows)]).astype(np.float32),
        path=path,
        path_count=np.full(rows, 2, np.int32),
        scan=scan,
        scan_angles=angles,
        scan_pose=np.zeros(3, np.float32),
        limits=JACKAL.limits(rows),
        footprint=np.tile(np.float32(JACKAL.footprint), (rows, 1, 1)),
        **given,
    )


def test_it_drives_by_its_policy_where_the_way_is_free(planner):
    twists = planner.act(before([0.0, 0.9, -0.9], [(3.0, 0.0)] * 3), {}).twists
    assert twists == pytest.approx(np.tile([1.0, 0.0, 0.0], (3, 1)), abs=1e-5)


def test_it_turns_in_place_where_the_path_leads_aside_until_it_leads_ahead(planner):
    far, memory = [(9.0, 0.0)], {}
    for bearing, turns in ((0.5, False), (1.2, True), (0.5, True), (0.1, False), (0.5, False), (-1.2, True)):
        answer = planner.act(before([bearing], far), memory)
        memory = answer.memory
        assert answer.twists[0] == pytest.approx([0.0, 0.0, 2.0 * bearing] if turns else [1.0, 0.0, 0.0], abs=1e-5)


def test_what_it_would_touch_in_a_fifth_of_a_second_it_does_not_drive_into(planner):
    """Its nose is 0.25 m ahead, and it drives 0.2 m in that time."""
    o = before([0.6, 0.6, 0.0, 0.6], [(0.6, 0.0), (0.5, 0.0), (0.5, 0.0), (0.38, -0.12)])
    free, turned, backed, turned_into = planner.act(o, {}).twists
    assert free == pytest.approx([1.0, 0.0, 0.0], abs=1e-5)
    assert turned == pytest.approx([0.0, 0.0, 1.2], abs=1e-5)
    assert backed == pytest.approx([-0.2, 0.0, 0.0], abs=1e-5)
    assert turned_into[0] <= 0.0


def test_a_robot_that_cannot_drive_backwards_stands(planner):
    o = before([0.0], [(0.5, 0.0)])
    o = dataclasses.replace(o, limits=dataclasses.replace(o.limits, min_vx=np.zeros(1, np.float32)))
    assert planner.act(o, {}).twists[0].tolist() == [0.0, 0.0, 0.0]


def test_a_disc_is_as_large_as_its_radius(planner):
    wide = before([0.6, 0.6], [(0.56, 0.0), (0.56, 0.0)], radius=np.float32([0.3, 0.2]))
    twists = planner.act(dataclasses.replace(wide, footprint=np.zeros((2, 0, 2), np.float32)), {}).twists
    assert twists[0, 0] == 0.0 and twists[1, 0] == pytest.approx(1.0)


def test_its_encoding_hides_the_twist():
    o = before([0.3], [(1.0, 0.2)])
    see = ScanAndAim(beams=9)
    assert (see(o) == see(dataclasses.replace(o, twist=o.twist + 1.0))).all()
    assert see(o)[0, -2:] == pytest.approx([np.cos(0.3), np.sin(0.3)], abs=1e-6)
    with pytest.raises(InputError, match="beams: expected an integer of at least 1, got 0"):
        ScanAndAim(beams=0)
    with pytest.raises(InputError, match="scan_range: expected a number above 0"):
        ScanAndAim(scan_range=-1.0)


def test_it_gets_through_fields_of_clumps():
    suite = load_suite("planners")
    starts = [suite.start("barn_like", k) for k in range(4)]
    ends = [robot.outcome for _, (robot,) in Episodes(starts, Lflh(), Conditions.of(suite.stage("barn_like")))]
    assert ends.count(Outcome.REACHED) >= 3
