"""The notes of planners, from the call to the file: why they stand, how fast they may be, how dangerous it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from tests.recordings import drive, rounded
from tests.starts import DISC, people, start

from agora.benchmark.results import recording_shards
from agora.core.recording import Outcome, Reason
from agora.episode import Conditions, Episodes
from agora.interfaces import Answer, Declaration
from agora.metrics.planner_notes import danger_average, main_reason, reason_share, speed_limit_average
from agora.optics.lidar import Lidar
from agora.pedestrians.models.waypoint import Waypoint
from agora.planners.guided import GuidedPlanner
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.world.records import END_WALL

LIDAR = Lidar(beams=180, range_max=8.0)


@dataclass(frozen=True)
class Hesitant:
    """Has no path for two calls, is blocked at every third, and drives at the others."""

    declares: ClassVar[Declaration] = Declaration(notes=("reason",))
    kind: type = np.int8

    def act(self, observation, memory):
        assert memory.keys() <= {"calls"}
        calls = memory.get("calls", np.zeros(len(observation.pose), np.int32)) + 1
        reason = np.where(calls % 3 == 0, Reason.BLOCKED, np.where(calls < 3, Reason.NO_PATH, Reason.NONE))
        twists = np.where(reason[:, None] == 0, (0.5, 0.0, 0.1), (0.0, 0.0, 0.0))
        return Answer(twists, {"calls": calls}, {"reason": reason.astype(self.kind)})


def begun(k: int = 0, **more):
    crowd = people([(3.0 + 0.3 * k, 0.2)], [(-9.0, 0.2)], speed=0.3)
    robot = replace(DISC, ax=2.0, alpha=6.0, lidar=LIDAR)
    given = {"timeout": 4.0 + 0.7 * k} | more
    return start(pose=(-1.0, 0.0, 0.0), goal=(8.0, 0.0, 0.0), crowd=crowd, model=robot, entry=f"test/notes/{k}", **given)


def played(planner, starts, **options):
    episodes = Episodes(starts, planner, Conditions(crowd=Waypoint(), ends=END_WALL), **options)
    return [recordings[0] for _, recordings in sorted(episodes, key=lambda item: item[0])]


def test_a_reason_stands_at_the_call_at_which_it_was_given():
    (made,) = played(Hesitant(), [begun()])
    calls = np.arange(1, len(made.time))
    assert made.reason.tolist() == [1 if k < 3 else (2 if k % 3 == 0 else 0) for k in calls]
    stood = np.hypot(*np.diff(made.pose[:, :2], axis=0).T) < 1e-6
    assert (stood[:2]).all() and made.speed_limit is None and made.danger is None


def test_what_is_noted_does_not_depend_on_the_batch():
    starts = [begun(k) for k in range(5)]
    for planner in (Hesitant(), named_planner("pure_pursuit+polite")[1].part):
        alone = [played(planner, [s])[0] for s in starts]
        for worlds in (2, 5):
            for one, other in zip(alone, played(planner, starts, worlds=worlds), strict=True):
                assert one.reason.tolist() == other.reason.tolist() and len(one.reason) == len(one.time) - 1
                if one.danger is not None:
                    assert one.danger.tolist() == other.danger.tolist()
                    assert one.speed_limit.tolist() == other.speed_limit.tolist()


def test_a_robot_that_backs_away_says_so_and_how_fast_it_may_be():
    (made,) = played(named_planner("pure_pursuit+polite")[1].part, [begun(timeout=12.0)])
    distance = np.hypot(*(made.pedestrian_position[:-1, 0] - made.pose[:-1, :2]).T)
    assert (made.speed_limit == np.where(distance <= 4.0, 0.5, 1.0)).all()
    assert made.danger == pytest.approx(np.exp(-1.0 / (3.0 / distance) ** 2), rel=1e-5)
    assert main_reason(made) == "retreating" and Reason.WAITING not in made.reason
    back = made.reason == Reason.RETREATING
    assert distance[np.argmax(back)] <= 2.0 and back.any() and not back.all()
    assert reason_share(made) == pytest.approx(back.mean(), abs=0.02)
    assert 0.5 < speed_limit_average(made) < 1.0 and 0.0 < danger_average(made) < 1.0


def test_the_local_planners_reason_goes_before_the_interplanners():
    guided = GuidedPlanner(Named("hesitant", Hesitant()), Named.of("interplanners", "sideways", caution_detection_range=9.0))
    (made,) = played(guided, [begun(timeout=12.0)])
    assert made.reason[:6].tolist() == [1, 1, 2, 0, 0, 2]
    assert {Reason.RETREATING, Reason.BLOCKED} <= set(made.reason.tolist())


def test_of_who_notes_nothing_the_record_has_reasons_alone(tmp_path):
    (made,) = played(named_planner("pure_pursuit")[1].part, [begun()])
    assert (made.reason == Reason.NONE).all() and made.speed_limit is None and made.danger is None
    assert main_reason(made) == "" and reason_share(made) == 0.0 and speed_limit_average(made) is None
    recording_shards.write_recordings(tmp_path / "none.parquet", {"a": made})
    back = recording_shards.read_recordings(tmp_path / "none.parquet")["a"]
    assert back.speed_limit is None and back.danger is None and (back.reason == Reason.NONE).all()


def test_notes_come_back_from_the_file_as_they_were(tmp_path):
    (made,) = played(named_planner("pure_pursuit+polite")[1].part, [begun()])
    (other,) = played(Hesitant(), [begun()])
    plain = rounded(drive(np.array([0.0, 0.7, 1.1]), np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.1, 0.4])))
    recording_shards.write_recordings(tmp_path / "x.parquet", {"a": made, "b": other, "c": plain})
    back = recording_shards.read_recordings(tmp_path / "x.parquet")
    for name in ("reason", "speed_limit", "danger"):
        assert getattr(back["a"], name).tolist() == getattr(made, name).tolist()
        assert getattr(back["c"], name) is None
    assert back["b"].reason.tolist() == other.reason.tolist() and back["b"].danger is None


def test_a_planner_that_does_not_note_what_it_promised_fails_and_is_told():
    (made,) = played(Hesitant(kind=np.float32), [begun()])
    assert made.outcome == Outcome.PLANNER_FAILED
    assert "note 'reason' is declared, but is not an array (1,) of int8" in made.failure
