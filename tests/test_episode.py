"""The one loop: an episode's result depends on the episode, not on what runs beside it; a planner's failure is its own row's."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from agora.benchmark.results.recording_shards import read_recordings, write_recordings
from agora.core.compiling import seconds_compiling
from agora.core.recording import Outcome
from agora.draft.periods import Periods
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import Answer, Declaration
from agora.optics.lidar import Lidar
from agora.pedestrians.models.waypoint import Waypoint
from agora.simulators.native import Native, NativeBodies
from agora.world.start import RobotStart, Start
from agora.world.trajectories import Trajectories
from tests.naughty import Naughty
from tests.starts import DISC, people, start
from tests.suites import CROWDS, PLANNERS, fingerprint, plane, planners, suite, write_world


@pytest.fixture(scope="module")
def crowds(tmp_path_factory):
    """64 starts and their conditions, by crowd model."""
    small = suite(write_world(tmp_path_factory.mktemp("places") / "room"), episodes=64, timeout=2.0)
    return {c: ([small.start(c, k) for k in range(64)], Conditions.of(small.stage(c))) for c in CROWDS}


@pytest.mark.parametrize("text", PLANNERS)
def test_an_episode_is_the_same_alone_refilled_or_beside_63_others_with_any_padding_and_threads(crowds, text):
    planner = planners(text)[text].part
    for crowd, (starts, conditions) in crowds.items():

        def played(numbers, starts=starts, conditions=conditions, **options):
            episodes = Episodes([starts[k] for k in numbers], planner, conditions, **options)
            return {numbers[index]: [fingerprint(r) for r in recordings] for index, recordings in episodes}

        together = played(range(64))
        assert len({f for robots in together.values() for f in robots}) == 128
        for numbers, options in (
            (range(50, 64), {"worlds": 7, "slots": 32}),
            ([60, 3, 17], {"worlds": 1, "slots": 128}),
            (range(63, 30, -1), {"worlds": 32, "threads": 2, "slots": 48}),
        ):
            assert played(numbers, **options) == {k: together[k] for k in numbers}, (crowd, options)


@dataclass(frozen=True)
class Shy:
    """Drives to where a noisy scan sees farthest."""

    declares: ClassVar[Declaration] = Declaration(needs=("scan",))

    def plan(self, observation, memory):
        bearing = observation.scan_angles[np.argmax(observation.scan)]
        return (0.4, 0.0, float(bearing)), None


def recorded(number: int) -> Start:
    """Two recorded pedestrians, one of whom comes again and again, and one who draws waypoints, under a timeout of its own."""
    times = np.array([0.3, 1.1 + 0.01 * number, 2.5, 0.0, 0.7])
    x, y = np.array([-3.0, -1.0, 4.0, 5.0, 1.0]), np.array([2.0, 1.5, 3.0, -2.0, -2.5])
    replay = Trajectories(times, x, y, np.array([0, 3, 5]), np.array([4, 9]), period=np.array([0.0, 0.7]))
    crowd = people([[-2.0, -2.0]], [[[0.0, 1.0], [-2.0, -1.0], [-1.0, -3.0], [-2.5, 0.5]]], mode=1)
    more = {"timeout": 1.5 + 0.17 * (number % 7), "replay": replay, "replay_phase": np.array([0.0, 0.05 * number])}
    return start(pose=(0.1 * number, 0.0, 0.3), crowd=crowd, entry=f"test/recorded/{number}", **more)


def test_noise_recordings_drawn_waypoints_and_periods_that_rarely_meet_do_not_know_of_the_batch():
    starts = [recorded(k) for k in range(40)]
    lidar = Lidar(beams=61, angle_min=-2.0, angle_max=2.0, noise=0.3, dropout=0.1, legs=True)
    conditions = Conditions(Periods(0.05, 0.1, 0.15, 0.2), crowd=Waypoint(), lidar=lidar)

    def played(numbers, **options):
        episodes = Episodes([starts[k] for k in numbers], Shy(), conditions, **options)
        return {numbers[index]: fingerprint(recordings[0]) for index, recordings in episodes}

    together = played(range(40))
    assert len(set(together.values())) == 40
    for numbers, options in (
        (range(39, 25, -1), {"worlds": 3, "slots": 32}),
        ([7, 30], {"worlds": 1, "slots": 128}),
        (range(39), {"worlds": 33, "threads": 2}),
    ):
        assert played(numbers, **options) == {k: together[k] for k in numbers}, options


FAILURES = {
    "raises": "ZeroDivisionError: on purpose",
    "raises_what_has_no_text": "Wordless: its message cannot be printed",
    "raises_what_no_file_takes": "ValueError: no file takes \\udc80",
    "is_not_finite": "nan",
    "has_another_shape": "twists of shape (1, 2), not (1, 3)",
}


@pytest.mark.parametrize("mischief", FAILURES)
def test_a_planner_that_fails_ends_its_own_robots_with_the_reason_and_the_others_go_on(mischief):
    starts = [start(goal=(x, 2.0, 0.0), timeout=1.5, entry=f"test/stage/{x}") for x in (-4.0, 3.0, -3.0, 4.0)]
    good = dict(Episodes(starts, Naughty(), Conditions()))
    bad = dict(Episodes(starts, Naughty(mischief), Conditions(), worlds=3))
    for k in (0, 2):
        assert fingerprint(good[k][0]) == fingerprint(bad[k][0])
        assert bad[k][0].outcome is Outcome.TIMEOUT and bad[k][0].failure == ""
    for k in (1, 3):
        (failed,) = bad[k]
        assert failed.outcome is Outcome.PLANNER_FAILED
        assert FAILURES[mischief] in failed.failure and failed.failure.encode()
        assert failed.time[-1] == pytest.approx(0.3)
        assert np.array_equal(failed.pose, good[k][0].pose[:4])


class Loses(NativeBodies):
    """Native robots; the first one of worlds whose episode is to be lost has no finite state after half a second."""

    def move(self, now):
        moved, after = super().move(now), self._world.generation(1 - now)[1]

        def move(first, last):
            moved(first, last)
            for w in range(first, last):
                if self._world.starts[w].entry.endswith("lost") and self._world.status.clock.step[w] >= 10:
                    after.y[w, 0], self._world.lost[w] = np.nan, "loses: it is gone"

        return move


@dataclass(frozen=True)
class Lossy(Native):
    def bodies(self, world):
        return Loses(world)


@pytest.mark.parametrize("remove", [False, True])
def test_a_robot_that_the_simulator_loses_ends_with_its_words_and_all_others_drive_on(remove):
    other = RobotStart(DISC, np.array([2.0, 3.0, -1.0]), np.array([[-3.0, 0.0, 0.0]]))
    starts = [
        replace(one, robots=(*one.robots, other))
        for one in (
            start(goal=(3.0, 0.0, 0.0), timeout=1.0, entry=f"t/s/{k}{end}") for k, end in enumerate(("", "lost", "", "lost"))
        )
    ]
    fine = dict(Episodes(starts, Naughty(), Conditions(remove=remove)))
    played = dict(Episodes(starts, Naughty(), Conditions(remove=remove, simulator=Lossy()), worlds=3, threads=2))
    for k in (0, 2):
        assert [fingerprint(one) for one in played[k]] == [fingerprint(one) for one in fine[k]]
    for k in (1, 3):
        lost, companion = played[k]
        assert (lost.outcome, lost.failure) == (Outcome.SIMULATOR_FAILED, "loses: it is gone")
        assert lost.time[-1] == pytest.approx(0.55) and np.array_equal(lost.pose[:6], fine[k][0].pose[:6])
        assert np.isfinite(lost.pose).all() and np.isfinite(lost.twist).all() and not lost.contacts
        assert (companion.outcome, companion.failure) == (Outcome.TIMEOUT, "")
        assert np.array_equal(companion.pose, fine[k][1].pose)


def test_a_robot_whose_planner_failed_ends_alone_and_its_companion_drives_on():
    one = start(goal=(3.0, 0.0, 0.0), timeout=1.0)
    other = replace(one.robots[0], pose=np.array([2.0, 3.0, -1.0]), goals=np.array([[-3.0, 0.0, 0.0]]))
    both = replace(one, robots=(one.robots[0], other))
    ((_, (failed, fine)),) = Episodes([both], Naughty("raises"), Conditions())
    assert (failed.outcome, fine.outcome) == (Outcome.PLANNER_FAILED, Outcome.TIMEOUT)
    assert (failed.time[-1], fine.time[-1]) == (pytest.approx(0.3), pytest.approx(1.0))
    assert np.hypot(*(fine.pose[-1, :2] - fine.pose[0, :2])) == pytest.approx(0.4, abs=0.05)


def test_a_planner_that_fails_at_its_first_call_has_a_row_of_no_duration():
    ((_, (failed,)),) = Episodes([start(goal=(3.0, 0.0, 0.0))], Naughty("raises", after=0), Conditions())
    assert failed.outcome is Outcome.PLANNER_FAILED
    assert failed.time.tolist() == [0.0]


def test_robots_that_are_removed_are_not_run_into():
    crowd = people([[1.0, 0.0]], [[[1.0, 0.0]]])
    ahead = start(pose=(-0.2, 0.0, 0.0), goal=(5.0, 0.0, 0.0), crowd=crowd, timeout=4.0)
    behind = replace(ahead.robots[0], pose=np.array([-1.2, 0.0, 0.0]))
    both = replace(ahead, robots=(ahead.robots[0], behind))

    class Straight(Naughty):
        def act(self, observation, memory):
            return Answer(np.tile(np.array([0.5, 0.0, 0.0], np.float32), (len(observation.pose), 1)))

    outcomes = {}
    for remove in (False, True):
        ((_, recordings),) = Episodes([both], Straight(), Conditions(remove=remove))
        outcomes[remove] = [r.outcome for r in recordings]
    assert outcomes[False] == [Outcome.PEDESTRIAN_COLLISION, Outcome.ROBOT_COLLISION]
    assert outcomes[True] == [Outcome.PEDESTRIAN_COLLISION, Outcome.PEDESTRIAN_COLLISION]


def test_nothing_to_run_is_an_input_error():
    with pytest.raises(InputError, match="no episode"):
        Episodes([], Naughty(), Conditions())


def test_what_numba_compiles_during_a_call_is_no_planning_time():
    """The fourth call compiles for a second or more."""
    chosen = plane()
    start_ = chosen.start("plane", 0)
    begun, before = time.perf_counter(), seconds_compiling()
    ((_, (recording,)),) = Episodes([start_], Naughty("compiles", beyond=-9.0, seconds=1.0), Conditions.of(chosen.stage("plane")))
    taken, compiled = time.perf_counter() - begun, seconds_compiling() - before
    assert len(recording.planning_time) > 4
    assert compiled > 1.0
    assert recording.planning_time.sum() < taken - compiled  # with the compiling it would be most of the time taken


def test_a_recording_keeps_what_the_planner_said_beside_what_the_robot_did(tmp_path):
    @dataclass(frozen=True)
    class Eager(Naughty):
        def act(self, observation, memory):
            said = np.stack([0.3 + 0.5 * observation.pose[:, 0], 0 * observation.radius, 0.1 + 9.0 * observation.pose[:, 1]], 1)
            return Answer(said.astype(np.float32))

    begun = start(pose=(0.2, 0.3, 0.4), goal=(9.0, 3.0, 0.0), timeout=2.0, model=replace(DISC, ax=0.7, alpha=1.3))
    both = replace(begun, robots=(begun.robots[0], replace(begun.robots[0], pose=np.array([3.0, 4.0, 1.0]))))
    ((_, recordings),) = Episodes([both], Eager(), Conditions(ends=0))
    for recording in recordings:
        x, y = recording.pose[:-1, :2].T
        assert recording.command == pytest.approx(np.stack([0.3 + 0.5 * x, 0 * x, 0.1 + 9.0 * y], 1), abs=1e-5)
        assert np.abs(np.diff(recording.twist[:, 0])).max() < 0.08 < np.abs(recording.command[0, 0] - recording.twist[0, 0])
    write_recordings(tmp_path / "x.parquet", dict(zip("ab", recordings, strict=True)))
    back = read_recordings(tmp_path / "x.parquet")
    assert (back["b"].command == recordings[1].command).all()
