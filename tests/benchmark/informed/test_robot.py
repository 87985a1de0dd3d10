"""The informed robot in a run: rows beside those of planners, limits in the report, and the suite that measures them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests import starts
from typer.testing import CliRunner

from agora.benchmark.bench import run_all
from agora.benchmark.control import entrant, with_ceiling, with_control
from agora.benchmark.informed import Informed, informed
from agora.benchmark.informed.oracle import Timed, drive
from agora.benchmark.request import Options, Request
from agora.benchmark.request_form import RequestForm
from agora.benchmark.results.run_folder import RunFolder
from agora.cli.app import app
from agora.config import parse
from agora.engine.conditions import Conditions
from agora.errors import InputError
from agora.interfaces import Watch
from agora.planners.presets import named_planner
from agora.reporting.report import limits, report
from agora.tasks.modules.axis import axis_of
from agora.tasks.suite import Suite, load_suite, suite_names
from agora.web._live.episode import LiveForm

SUITE = """
name: harder
seed: 5
stages:
  - name: room
    episodes: 4
    world: {name: open, width: 9.0, height: 7.5}
    robots: {name: random, distance: 5.0}
    obstacles: {name: itineraries, arrivals: 0}
    timeout: 20
    modules: [{name: axis, axis: crowd, easy: 0.02, hard: 0.2, sets: {obstacles.density: [0.02, 0.2]}}]
"""


@pytest.fixture
def suite():
    return parse(SUITE, Suite, "test")


def test_a_run_has_rows_and_limits_of_the_informed_robot(suite, tmp_path):
    planners = with_ceiling(suite, with_control(suite, dict([named_planner("orca")]), tmp_path, False), tmp_path, False)
    assert list(planners) == ["orca", "pure_pursuit", "informed"]
    rows = run_all(Request(suite, planners, tmp_path / "run", Options(workers=0), controls=("pure_pursuit", "informed")))
    assert [row["success"] for row in rows if row["planner"] == "informed"] == [1.0] * 4
    run = RunFolder.read(tmp_path / "run")
    assert run.record.blind == ("pure_pursuit",) == run.record.unaware
    (found,) = limits(run, rows)
    assert (found.ceiling, found.floor, found.axis.axis) == ("informed", "pure_pursuit", "crowd")
    page = report(tmp_path / "run").read_text()
    lines = (tmp_path / "run" / "limits.csv").read_text().splitlines()
    assert lines[0].startswith("planner,axis,outcome,unit,d50,d50_low,d50_high,bound,score")
    assert {line.split(",")[0] for line in lines[1:]} == {"orca", "pure_pursuit", "informed"}
    assert 'id="limits"' in page and "informed knows the future" in page and "sees nobody, the floor" in page


def test_the_informed_robot_can_be_named_in_a_run_but_is_not_registered():
    assert entrant("informed") == ("informed", informed())
    with pytest.raises(InputError, match="no planner called 'informed'"):
        named_planner("informed")


def test_one_episode_of_the_informed_robot_can_be_run_and_seen(suite, tmp_path):
    path = tmp_path / "harder.yaml"
    path.write_text(SUITE)
    done = CliRunner().invoke(app, ["run", str(path), "-p", "informed", "--picture", str(tmp_path / "episode.png")])
    assert done.exit_code == 0 and "informed: reached" in done.output and (tmp_path / "episode.png").is_file()
    refused = CliRunner().invoke(app, ["run", str(path), "-p", "informed", "-i", "bypass"])
    assert refused.exit_code != 0


@pytest.mark.parametrize(
    "words",
    [["tune", "informed", "-s", "social_training", "--held-out", "social_validation"], ["look", "social", "-p", "informed"]],
)
def test_commands_that_need_a_planner_refuse_the_informed_robot_by_name(words, tmp_path):
    more = [] if words[0] == "tune" else ["--output", str(tmp_path / "seen.png")]
    done = CliRunner().invoke(app, [*words, *more])
    assert done.exit_code != 0 and "agora bench" in str(done.exception) and "not a planner" in str(done.exception)


def test_the_page_refuses_to_play_the_informed_robot_and_runs_it_in_a_benchmark():
    with pytest.raises(InputError, match="not a planner"):
        LiveForm(suite="social", planner="informed").resolve()
    request = RequestForm(suite="limits", planners=("informed",), episodes=1).request()
    assert "informed" in request.planners


def test_the_informed_robot_refuses_other_robots(suite):
    start = suite.start("room", 0)
    pair = starts.start(pose=(0.0, 0.0, 0.0), goal=(2.0, 0.5, 0.0))
    both = type(start)(**{**vars(pair), "robots": pair.robots * 2})
    with pytest.raises(InputError, match="drives alone"):
        Informed().episodes([both], Conditions(), Watch())


def test_a_robot_with_delayed_commands_keeps_to_its_track():
    bend = np.array([(0.05 * k, 0.8 * np.sin(0.05 * k)) for k in range(120)])
    late = starts.start(pose=(0.0, 0.0, 0.6), goal=(*bend[-1], 0.0))
    robot = late.robots[0]
    slow = replace(robot.model, command_delay=0.4)
    late = type(late)(**{**vars(late), "robots": (type(robot)(slow, robot.pose, robot.goals),)})
    off = {}
    for name, recording in {"told": drive(late, bend, Conditions()), "untold": _untold(late, bend)}.items():
        off[name] = max(float(np.hypot(*(bend - place).T).min()) for place in recording.pose[:, :2])
    assert off["told"] < 0.12 and off["untold"] > 2 * off["told"]


def _untold(start, track):
    from agora.episode import Episodes

    _, (recording,) = next(iter(Episodes([start], Timed(track), Conditions())))
    return recording


def test_no_other_suite_has_a_place_of_the_suite_limits():
    mine = {stage.world.part.seed for stage in load_suite("limits").stages if stage.world.name == "generated"}
    others = {
        stage.world.part.seed
        for name in suite_names()
        if name != "limits"
        for stage in load_suite(name).stages
        if stage.world.name == "generated"
    }
    assert len(mine) == 8 and not mine & others


def test_every_axis_of_the_suite_limits_can_be_built_at_both_ends():
    suite = load_suite("limits")
    assert len({axis_of(stage).axis for stage in suite.stages}) == 8
    for stage in suite.stages:
        x = [axis_of(stage).fraction(f"limits/{stage.name}", suite.seed, k) for k in range(stage.count)]
        assert min(x) < 0.02 and max(x) > 0.98
        for episode in (int(np.argmin(x)), int(np.argmax(x))):
            assert len(suite.start(stage.name, episode).robots) == 1
