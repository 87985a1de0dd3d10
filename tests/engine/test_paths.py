"""The paths that robots were given are in their recordings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.starts import DISC, start

from agora.engine.paths import path_for
from agora.episode import Conditions, Episodes
from agora.errors import ComponentError
from agora.interfaces import Declaration
from agora.maps.grid import Map

SPEED = 0.5


@dataclass(frozen=True)
class Ahead:
    """Drives straight on; reads paths or not."""

    needs: tuple[str, ...] = ("path",)

    @property
    def declares(self) -> Declaration:
        return Declaration(needs=self.needs)

    def plan(self, observation: Any, memory: Any) -> Any:
        return (SPEED, 0.0, 0.0), memory


@dataclass
class Corner:
    """A path over a corner beside the robot; none at the second time."""

    asked: int = 0

    def path(self, request):
        self.asked += 1
        x, y = request.start[:2]
        return None if self.asked == 2 else np.array([(x, y), (x + 0.5, y + 0.4), request.goal[:2]])


def recorded(planner, **conditions):
    room = Map.from_shapes(bounds=(-2.3, -3.1, 8.7, 4.9))
    made = start((0.5, 0.2, 0.0), (6.0, 0.2, 0.0), place=room, model=DISC, timeout=3.0)
    return next(iter(Episodes([made], planner, Conditions(global_planner=Corner(), **conditions))))[1][0]


def test_the_paths_are_recorded_with_the_times_at_which_they_were_given_and_a_point_stands_for_none():
    recording = recorded(Ahead(), replan=1.0)
    planned = recording.planned_path
    times, counts = np.unique(planned[:, 0], return_counts=True)
    assert times.tolist() == [0.0, 1.0, 2.0] and counts.tolist() == [3, 1, 3]
    for time, group in ((t, planned[planned[:, 0] == t, 1:]) for t in times):
        here = recording.pose[int(np.searchsorted(recording.time, time - 1e-6)), :2]
        np.testing.assert_allclose(group[0], here, atol=1e-6)
        if len(group) > 1:
            np.testing.assert_allclose(group[1:], [here + (0.5, 0.4), (6.0, 0.2)], atol=1e-6)


def test_one_path_is_one_group_and_who_reads_none_has_none():
    assert np.unique(recorded(Ahead()).planned_path[:, 0]).tolist() == [0.0]
    assert recorded(Ahead(needs=())).planned_path is None


@dataclass(frozen=True)
class Answers:
    """Returns the same for every request, or raises it."""

    answer: Any

    def path(self, request: Any) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (SystemExit("on purpose"), ": SystemExit: on purpose (test_paths.py, line "),
        (GeneratorExit(), ": GeneratorExit (test_paths.py, line "),
        (np.full((4, 2), np.nan), " returned a path with nan"),
        (np.full((4, 3), 1e30), " returned a path with 1e+30"),
        (np.ones((2, 5)), " returned a path as float64 of shape (2, 5)"),
        (np.ones(4), " returned a path as float64 of shape (4,)"),
        (np.ones((3, 2)) * 1j, " returned a path as complex128"),
        ("north", " returned a path as <U5"),
    ],
)
def test_an_answer_that_is_no_path_is_an_error_that_names_the_global_planner(answer, said):
    with pytest.raises(ComponentError) as caught:
        path_for(DISC, Answers(answer), Map.from_shapes(bounds=(-9.0, -8.0, 9.0, 8.0)), np.zeros(2), np.ones(2))
    assert str(caught.value).startswith(f"global planner Answers{said}")


@pytest.mark.parametrize("answer", [None, [[0, 0], [1, 1]], np.zeros((0, 2)), np.ones((2, 3), np.float32)])
def test_points_poses_and_nothing_are_paths(answer):
    found = path_for(DISC, Answers(answer), Map.from_shapes(bounds=(-9.0, -8.0, 9.0, 8.0)), np.zeros(2), np.ones(2))
    assert found is None if answer is None else (found == np.asarray(answer)).all()
