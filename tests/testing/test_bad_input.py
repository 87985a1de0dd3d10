"""Bad input is answered by every planner as a preset and behind an interplanner; alone, the contract of planners asks it.

Planners come from the last to the first: the contract's tests, which another worker may run at the same time, come from the first
to the last, and no kernel is compiled by both.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
import pytest

from agora.core.recording import Reason
from agora.interfaces import Declaration
from agora.planners.guided import GuidedPlanner
from agora.planners.inter.surroundings import unchanged
from agora.planners.presets import named_planner, preset_names
from agora.registry import Named, available, ready
from agora.testing import check_bad_input, check_interplanner

REASONS = np.array([Reason.NO_PATH, Reason.NONE, Reason.WAITING, Reason.NONE], np.int8)
SPEEDS = np.array([1.0, 0.3, 0.0, 0.7], np.float32)


@dataclass(frozen=True)
class Meddling:
    """Changes all that an interplanner may: no path, two points of it, a full stop, always other people; in turn, at each call."""

    declares: ClassVar[Declaration] = Declaration(needs=("path", "pedestrians"))

    def guide(self, observation, memory):
        o, people = observation, observation.pedestrians
        rows = np.arange(len(o.pose))
        calls = memory["calls"] if memory else np.zeros(len(rows), np.int32)
        turn = (calls + o.path_count + people.present.sum(1)) % 4
        count = np.where(turn == 0, 0, np.where(turn == 1, np.minimum(o.path_count, 2), o.path_count)).astype(o.path_count.dtype)
        end = np.where(count[:, None] > 0, o.path[rows, np.maximum(count, 1) - 1], o.goal[:, :2])
        beyond = np.arange(o.path.shape[1]) >= count[:, None]
        path = np.where(beyond[..., None] & (count[:, None, None] > 0), end[:, None], o.path)
        fewer = {one.name: None if (value := getattr(people, one.name)) is None else value[:, ::2] for one in fields(people)}
        return replace(
            unchanged(o),
            path=path,
            path_count=count,
            goal=np.column_stack((end, o.goal[:, 2])).astype(np.float32),
            speed=SPEEDS[turn],
            reason=REASONS[turn],
            pedestrians=replace(people, **fewer | {"radius": np.float32(1.5) * fewer["radius"]}),
        ), {"calls": calls + np.int32(1)}


def test_the_meddling_one_is_an_interplanner():
    check_interplanner(Meddling())


@pytest.mark.parametrize("name", sorted(preset_names(), reverse=True))
def test_a_preset_answers_bad_input(name):
    creeps = name == "nh_orca"  # at 2.4 mm/s into somebody who is in it: two wheels cannot track the way out at once
    check_bad_input(named_planner(name)[1].part, gives_way=not creeps, kinds=("differential",))


@pytest.mark.parametrize("name", sorted(ready("planners"), reverse=True))
def test_a_planner_behind_an_interplanner_answers_bad_input(name):
    guided = GuidedPlanner(Named.of("planners", name), Named("meddling", Meddling()))
    check_bad_input(guided, gives_way=False, kinds=("differential",))


@pytest.mark.parametrize("name", sorted(available("interplanners")))
def test_a_planner_before_which_an_interplanner_is_answers_bad_input(name):
    guided = GuidedPlanner(Named.of("planners", "social_force"), Named.of("interplanners", name))
    check_bad_input(guided, gives_way=False, kinds=("differential",))
