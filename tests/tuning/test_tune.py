"""Tuning finds what is better, the same whoever runs it and however often it is killed, and says what it found it on."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from typing import ClassVar

import pytest
from tests.stopping import stopped
from tests.suites import plane, planners

from agora.benchmark.events import Kept
from agora.benchmark.request import Options
from agora.benchmark.results import store
from agora.benchmark.stop_token import StopToken
from agora.config import dump, load, parse
from agora.errors import InputError, ResultsError, StoppedError
from agora.interfaces import Declaration, Span
from agora.planners.local.go_to_goal import GoToGoal
from agora.planners.local.orca import OrcaPlanner
from agora.registry import Named
from agora.tasks.suite import load_suite
from agora.tuning.result import Tried, Tuned, preset_text
from agora.tuning.search import space
from agora.tuning.tune import Tuning, tune

pytest.importorskip("optuna")


def suites(episodes=8, timeout=12.0):
    """A suite to tune on, and one to compare on: a robot on a plane, alone, with little time."""
    test = plane(episodes, timeout)
    return dataclasses.replace(test, name="training", split="training"), test


def tuning(planner="go_to_goal:speed=0.25", trials=20, **more):
    (label, named), (training, test) = next(iter(planners(planner).items())), suites()
    return Tuning(label, named, training, test, trials=trials, **more)


def tuned_by(*given, **more):
    """The result of a tuning that nobody stops."""
    *_, tuned = tune(*given, **more)
    return tuned


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A tuning and what it found, in this process."""
    folder = tmp_path_factory.mktemp("found") / "run"
    return tuning(), folder, tuned_by(tuning(), folder, Options(workers=0))


@pytest.fixture(scope="module")
def brief(tmp_path_factory):
    """A tuning of few trials and what it found, in this process."""
    what = tuning(trials=5)
    return what, tuned_by(what, tmp_path_factory.mktemp("brief") / "run", Options(workers=0))


def test_a_robot_that_is_too_slow_is_made_faster_and_is_better_where_nobody_tuned_it(found):
    what, _, tuned = found
    assert tuned.better
    assert tuned.best.parameters["speed"] > 0.4
    score, success = tuned.comparisons(what.objective)
    assert score.difference.low > 0
    assert success.after.value >= success.before.value
    assert score.before.n == score.after.n == 8


def test_what_is_no_better_where_it_was_not_tuned_is_called_so(found):
    what, _, tuned = found
    assert tuned.comparisons(what.objective)[0].gained
    turned = dataclasses.replace(tuned, before=tuned.after, after=tuned.before)
    same = dataclasses.replace(tuned, before=tuned.after)
    assert not turned.comparisons(what.objective)[0].gained
    assert not same.comparisons(what.objective)[0].gained


def test_the_first_trial_is_the_planner_as_it_is(found):
    _, _, tuned = found
    assert tuned.trials[0].parameters == {"speed": 0.25, "lookahead": 1.0}
    assert tuned.trials[0].whole


def test_sets_that_begin_badly_are_given_up_and_do_not_win(found):
    _, _, tuned = found
    given_up = [trial for trial in tuned.trials if not trial.whole]
    assert given_up
    assert all(trial.episodes == 2 and trial.number > 0 for trial in given_up)
    assert tuned.best.value == max(trial.value for trial in tuned.trials if trial.whole)


def test_two_workers_find_the_same(brief, tmp_path):
    what, tuned = brief
    assert tuned_by(what, tmp_path / "run", Options(workers=2, batch=3)) == tuned


def test_another_seed_tries_other_parameters(found, tmp_path):
    _, _, tuned = found
    other = tuned_by(tuning(trials=3, seed=1), tmp_path / "run", Options(workers=0))
    assert other.trials[0] == tuned.trials[0]
    assert other.trials[1].parameters != tuned.trials[1].parameters


def test_a_run_that_is_over_is_gone_over_again_without_an_episode(found, monkeypatch):
    what, folder, tuned = found
    files = {path: path.stat().st_mtime_ns for path in (folder / "episodes").iterdir()}
    assert tuned_by(what, folder, Options(workers=0), resume=True) == tuned
    assert {path: path.stat().st_mtime_ns for path in (folder / "episodes").iterdir()} == files


def test_another_tuning_does_not_go_on_in_the_folder(found):
    what, folder, _ = found
    with pytest.raises(ResultsError, match="tuning.seed was 0, but is now 4"):
        tuned_by(dataclasses.replace(what, seed=4), folder, Options(workers=0), resume=True)
    with pytest.raises(ResultsError, match="already contains a run"):
        tuned_by(what, folder, Options(workers=0))


def test_a_run_that_is_killed_goes_on_and_finds_the_same(brief, tmp_path):
    what, tuned = brief
    for name, suite in {"training": what.suite, "test": what.held_out}.items():
        (tmp_path / f"{name}.yaml").write_text(dump(suite))
    command = [sys.executable, "-c", "from agora.cli.app import main; main()", "tune", what.label, "--suite", "./training.yaml"]
    command += ["--held-out", "./test.yaml", "--trials", str(what.trials), "-o", "run", "--preset", "tuned.yaml"]
    begun = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while len(list((tmp_path / "run" / "episodes").glob("*.parquet"))) < 3 and time.monotonic() < until:
            assert begun.poll() is None
    finally:
        os.killpg(begun.pid, signal.SIGKILL)
        begun.wait()
    assert not (tmp_path / "tuned.yaml").exists()
    done = subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tuned.yaml").read_text() == preset_text(what, tuned)
    keys = [row["key"] for row in store.read_rows(tmp_path / "run" / "episodes")]
    assert len(keys) == len(set(keys)) == sum(trial.episodes for trial in tuned.trials)


@pytest.mark.parametrize(
    ("moment", "workers"), [("in a trial", 0), ("in a trial", 1), ("between trials", 0), ("in the comparison", 0)]
)
def test_a_tuning_is_stopped_from_another_thread_and_resumed_to_the_same_result(found, brief, tmp_path, moment, workers):
    what, tuned = (found[0], found[2]) if moment == "between trials" else brief  # there the search has a model to take up again

    def is_time(told):
        tried = [event for event in told if isinstance(event, Tried)]
        return {
            "in a trial": sum(isinstance(event, Kept) for event in told) == 4,
            "between trials": len(tried) == 13,
            "in the comparison": len(tried) == 5 and isinstance(told[-1], Kept),
        }[moment]

    said, told = stopped(lambda token: tune(what, tmp_path, Options(workers=workers, batch=3), token=token), is_time)
    assert said.startswith("stopped: ") and said.endswith("repeat the tuning with resume to continue")
    assert not any(isinstance(event, Tuned) for event in told)
    events = list(tune(what, tmp_path, Options(workers=workers, batch=3), resume=True))
    assert events[-1] == tuned
    assert [event.trial for event in events if isinstance(event, Tried)] == tuned.trials
    assert sum(len(event.episodes) for event in told + events if isinstance(event, Kept)) == sum(
        trial.episodes for trial in tuned.trials
    ) + len(tuned.rows)


def test_a_tuning_tells_the_best_so_far_with_every_trial(found):
    what, folder, tuned = found
    tried = [event for event in tune(what, folder, Options(workers=0), resume=True) if isinstance(event, Tried)]
    assert [(event.trial, event.done, event.total) for event in tried] == [(t, t.number + 1, 20) for t in tuned.trials]
    assert tried[-1].best == tuned.best and tried[0].best.whole


def test_a_token_that_was_asked_before_begins_no_tuning(tmp_path):
    token = StopToken()
    token.stop()
    with pytest.raises(StoppedError, match="no episode was started"):
        next(tune(tuning(), tmp_path / "run", token=token))
    assert list(tmp_path.iterdir()) == []


def test_the_preset_is_the_planner_and_says_where_it_is_from(found):
    what, _, tuned = found
    text = preset_text(what, tuned)
    ((name, named),) = planners("go_to_goal").items()
    assert name == "go_to_goal"
    values = parse(text, dict)
    assert dataclasses.replace(named.part, **{key: value for key, value in values.items() if key != "name"}) == tuned.planner.part
    assert values["name"] == "go_to_goal"
    assert "Split: training, suite training version 1, seed 5, 8 episodes." in text
    assert "20 trials" in text
    assert "seed 0" in text
    assert all(len(line) <= 132 for line in text.splitlines())


def test_trials_can_be_read_afterwards(found):
    _, folder, tuned = found
    trials = load(folder / "trials.yaml", list)
    assert [trial["parameters"] for trial in trials] == [trial.parameters for trial in tuned.trials]


def test_time_ends_a_search_between_trials(tmp_path):
    tuned = tuned_by(tuning(trials=64), tmp_path / "run", Options(workers=0), minutes=0.0)
    assert len(tuned.trials) == 8


def test_with_more_time_it_goes_on_and_compares_what_is_best_then(found, tmp_path):
    what, _, tuned = found
    short = tuned_by(what, tmp_path / "run", Options(workers=0), minutes=0.0)
    assert short.best != tuned.best
    assert tuned_by(what, tmp_path / "run", Options(workers=0), resume=True) == tuned


def test_the_search_begins_near_the_planner(found):
    _, _, tuned = found
    begin = [trial.parameters for trial in tuned.trials[:16]]
    assert all(0.2 <= one["speed"] <= 0.25 + (2.0 - 0.25) / 3 + 1e-3 for one in begin)
    assert len({one["speed"] for one in begin}) == 16


def test_nothing_is_tuned_on_a_suite_for_tests_or_compared_on_one_for_training():
    what = tuning()
    with pytest.raises(InputError, match="suite 'plain' is for tests"):
        dataclasses.replace(what, suite=what.held_out)
    with pytest.raises(InputError, match="suite 'training' is for training"):
        dataclasses.replace(what, held_out=what.suite)


def test_what_is_left_open_is_not_tuned_and_what_lies_outside_its_span_is_said():
    assert "preferred_speed" not in space(Named("orca", OrcaPlanner()))
    assert "preferred_speed" in space(Named("orca", OrcaPlanner(preferred_speed=1.0)))
    with pytest.raises(InputError, match="speed is 9.0; tuning covers 0.2 to 2"):
        space(Named("go_to_goal", GoToGoal(speed=9.0)))


def test_a_planner_without_anything_to_tune_says_so():
    @dataclasses.dataclass(frozen=True)
    class Fixed:
        declares: ClassVar[Declaration] = Declaration()

    with pytest.raises(InputError, match="'fixed' declares no parameters to tune"):
        space(Named("fixed", Fixed()))


def test_a_span_has_a_beginning_and_an_end():
    for low, high, log in ((1.0, 1.0, False), (2.0, 1.0, False), (0.0, 1.0, True)):
        with pytest.raises(ValueError, match="low must be below high"):
            Span(low, high, log)


def test_training_suites_share_no_recorded_world_with_suites_for_tests():
    from agora.tasks.suite import suite_names

    worlds = {"training": set(), "test": set()}
    for name in suite_names():
        suite = load_suite(name)
        for stage in suite.stages:
            if stage.world.name == "barn":
                from agora.datasets.barn import CHALLENGE_WORLDS

                worlds[suite.split] |= {("barn", int(n)) for n in stage.world.part.worlds or CHALLENGE_WORLDS}
            if stage.world.name == "dynabarn":
                worlds[suite.split].add(("dynabarn", ""))
    assert len(worlds["training"]) == 40 + 146 + 37 - 36  # 36 of those of barn_training are among those of ros_jackal_training
    known = {("barn", n) for n in (21, 69, 99, 219)}  # published tests of ros_jackal, which barn_training had before
    assert worlds["training"] & worlds["test"] == known
