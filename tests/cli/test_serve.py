"""``agora serve socnavbench`` and ``agora bench --planner socnavbench`` from the command line."""

from __future__ import annotations

import threading

import pytest
from tests.joystick import StandIn
from tests.small_sets import played_socnavbench
from typer.testing import CliRunner

from agora.benchmark.results.store import read_rows
from agora.cli.app import app
from agora.errors import AgoraError


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(played_socnavbench(tmp_path / "data")))
    return tmp_path


def run(joystick, *words):
    thread = threading.Thread(target=joystick.play, daemon=True)
    thread.start()
    answer = CliRunner().invoke(app, words, catch_exceptions=False)
    thread.join(20)
    assert not thread.is_alive()
    return answer


def test_serve_plays_the_episodes_that_are_asked_for_and_writes_a_report(home):
    joystick = StandIn(str(home / "a"), str(home / "b"), name="Straight On")
    words = [
        "serve",
        "socnavbench",
        "-e",
        "t_two,t_two",
        "--recv",
        joystick.recv,
        "--send",
        joystick.sends,
        "-o",
        str(home / "out"),
    ]
    answer = run(joystick, *words)
    assert answer.exit_code == 0 and joystick.episodes == ["t_two"]
    assert [row["key"] for row in read_rows(home / "out" / "episodes")] == ["socnavbench/curated/0/Straight On/0"]
    assert "t_two: reached after 0.4" in answer.stderr and (home / "out" / "report.html").is_file()


def test_bench_scores_whoever_is_at_the_other_side(home):
    joystick = StandIn(str(home / "x_recv"), str(home / "x_send"))
    words = ["bench", "socnavbench", "--planner", f"socnavbench:address={home / 'x'}", "-o", str(home / "out")]
    answer = run(joystick, *words)
    assert answer.exit_code == 0 and joystick.episodes == ["t_one", "t_two"]
    assert [(row["planner"], row["outcome"]) for row in read_rows(home / "out" / "episodes")] == [("StandIn", "reached")] * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["serve", "socnavbench", "-e", "t_tow"], "no SocNavBench episode called 't_tow'; did you mean 't_two'"),
        (["serve", "socnavbench", "--address", "0.0.0.0:2100"], "connections from other machines are not accepted"),
        (["serve", "socnavbench", "--patience", "0"], r"patience: expected a number in \(0, 1000000\], got 0.0"),
        (["bench", "socnavbench", "-p", "socnavbench:adress=/tmp/x"], "adress: unknown key; did you mean 'address'"),
        (
            ["bench", "socnavbench", "-p", "socnavbench", "-p", "orca"],
            "--planner socnavbench cannot be combined with other planners",
        ),
        (
            ["bench", "socnavbench", "-p", "socnavbench", "--batch", "3"],
            "--batch has no effect with --planner socnavbench: a single joystick",
        ),
        (
            ["bench", "socnavbench", "-p", "socnavbench", "--workers", "2", "--record", "scan"],
            "--workers, --record have no effect with --planner socnavbench",
        ),
        (["bench", "socnavbench", "-p", "orca", "--ros-launch", "x:=1"], "--ros-launch needs --planner ros"),
        (["serve", "socnavbench", "--repeats", "3"], "repeats 3: has no effect unless asynchronous is true"),
        (["serve", "socnavbench", "--recv", "/tmp/a", "--send", "/tmp/b", "--address", "/tmp/c"], "already name both sockets"),
        (["bench", "demo", "-p", "socnavbench"], "a SocNavBench joystick requires world: socnavbench"),
    ],
)
def test_what_is_wrong_is_said_before_anybody_is_waited_for(home, monkeypatch, words, message):
    monkeypatch.chdir(home)
    with pytest.raises(AgoraError, match=message):
        CliRunner().invoke(app, words, catch_exceptions=False)
