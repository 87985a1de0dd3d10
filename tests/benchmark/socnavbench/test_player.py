"""SocNavBench's protocol from both sides: a stand-in joystick drives over real sockets through two whole episodes."""

from __future__ import annotations

import json
import math
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests import joystick as stand_in
from tests.joystick import StandIn, send
from tests.small_sets import played_socnavbench

from agora.benchmark.results import store
from agora.benchmark.results.recordings import recordings
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.socnavbench.joystick import Meeting
from agora.benchmark.socnavbench.player import bench_by_joystick
from agora.datasets.socnavbench import read_episode
from agora.errors import InputError, ResultsError
from agora.reporting.report import report
from agora.tasks.suite import load_suite

CORNER = np.array([-3.0, 2.0])
AGENT = ["name", "current_config", "radius", "collision_cooldown", "last_collision_t"]
WHOLE = ["name", "start_config", "goal_config", *AGENT[1:]]


def rows_by_joystick(suite, folder, meeting, **how):
    """The rows of a run that a joystick drives, by key."""
    for _ in bench_by_joystick(suite, folder, meeting, **how):
        pass
    return sorted(store.read_rows(folder / "episodes"), key=lambda row: row["key"])


@pytest.fixture(scope="module")
def data_home(tmp_path_factory):
    return played_socnavbench(tmp_path_factory.mktemp("data"))


@pytest.fixture
def suite(data_home, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(data_home))
    return load_suite("socnavbench")


def free_port():
    while True:
        with socket.socket() as one, socket.socket() as two, suppress(OSError):
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            two.bind(("127.0.0.1", port + 1))
            return port


class Played:
    """A run of a suite: its rows, what was said, and the joystick as it was at the end."""

    def __init__(self, suite, folder, place="unix", resume=False, patience=20.0, meeting=(), **how):
        address = str(folder.parent / "j") if place == "unix" else f"127.0.0.1:{free_port()}"
        self.meeting = Meeting(address=address, patience=patience, **dict(meeting))
        self.joystick = StandIn(str(self.meeting.receives), str(self.meeting.sends), **how)
        self.said = []
        thread = threading.Thread(target=self._play, daemon=True)
        thread.start()
        self.rows = rows_by_joystick(suite, folder, self.meeting, resume=resume, say=self.said.append)
        thread.join(20)
        assert not thread.is_alive()

    def _play(self):
        try:
            self.joystick.play()
        except (ConnectionError, FileNotFoundError, TimeoutError):  # the simulator has ended
            self.joystick.close()


@pytest.fixture
def play(suite, tmp_path):
    numbers = iter(range(9))

    def run(place="unix", folder=None, **how):
        folder = folder or tmp_path / f"run{next(numbers)}"
        return Played(suite, folder, place, **how), folder

    return run


def decided(rows):
    return [{key: value for key, value in row.items() if "planning_time" not in key} for row in rows]


@pytest.mark.parametrize("velocity", [False, True])
def test_two_episodes_are_played_to_the_goal_alike_over_both_kinds_of_sockets(play, velocity):
    there, folder = play("unix", velocity=velocity)
    rows = decided(there.rows)
    over_tcp = play("tcp", velocity=velocity)[0].rows
    assert {row.pop("steered_by") for row in over_tcp} == {"any process on this machine: TCP does not identify the sender"}
    assert decided(over_tcp) == rows
    assert not any("steered_by" in row for row in rows)
    assert [row["key"] for row in rows] == ["socnavbench/curated/0/StandIn/0", "socnavbench/curated/1/StandIn/0"]
    assert [row["outcome"] for row in rows] == ["reached", "reached"]
    assert there.joystick.episodes == ["t_one", "t_two"]
    assert there.joystick.raw[0] == '{"episodes": ["t_one", "t_two"]}'
    for end, states, row in zip(there.joystick.ends, there.joystick.states, rows, strict=True):
        assert list(end) == ["robot_on", "termination_cause", "sim_t"] and end["termination_cause"] == "Success"
        assert end["sim_t"] == pytest.approx(len(states) * 0.05) and row["time_to_goal"] == pytest.approx(end["sim_t"])
    assert "StandIn" in report(folder).read_text()
    assert not Path(there.meeting.receives.path).exists()


def test_what_is_recorded_is_where_the_joystick_saw_itself(play):
    there, folder = play()
    for states, row in zip(there.joystick.states, there.rows, strict=True):
        seen = np.array([state["robots"]["robot_agent"]["current_config"] for state in states])
        pose = recordings(folder, [row["key"]])[row["key"]].pose[: len(seen)]
        np.testing.assert_allclose(pose[:, :2] - CORNER, seen[:, :2], atol=1e-5)
        np.testing.assert_allclose(np.cos(pose[:, 2] - seen[:, 2]), 1.0, atol=1e-6)
        steps = np.hypot(*np.diff(seen[:, :2], axis=0).T)
        np.testing.assert_allclose(steps, 0.06, atol=1e-5)  # asked for 1 m, shortened to 1.2 m/s of 0.05 s


def test_the_first_message_has_what_sim_state_writes_in_its_order(play):
    told = play()[0].joystick.metadata[0]
    assert list(told) == [
        "robot_on",
        "environment",
        "episode_name",
        "pedestrians",
        "robots",
        "delta_t",
        "episode_max_time",
        "sim_t",
    ]
    environment = told["environment"]
    assert list(environment) == ["map_scale", "map_name", "room_center", "map_traversible"]
    assert (environment["map_scale"], environment["map_name"], environment["room_center"]) == (0.25, "M", [4.0, 3.0, 0.0])
    cells = environment["map_traversible"]
    assert (len(cells), len(cells[0])) == (24, 32) and {type(cell) for row in cells for cell in row} == {float}
    assert cells[21][5] == 0.0 and cells[2][5] == 1.0, "rows go upwards from y = 0"
    assert (told["robot_on"], told["episode_name"], told["delta_t"], told["episode_max_time"], told["sim_t"]) == (
        True,
        "t_one",
        0.05,
        6.0,
        0.0,
    )
    robot = told["robots"]["robot_agent"]
    assert list(robot) == WHOLE and robot["radius"] == 0.24
    assert robot["start_config"] == robot["current_config"] == [1.0, 2.0, float(np.float32(0.3))]
    assert robot["goal_config"] == [float(np.float32(3.6)), float(np.float32(4.3) - np.float32(2)), -1.0]
    assert list(told["pedestrians"]) == ["prerec_0000", "prerec_0002"], "41, of the second recording, comes later"
    first = told["pedestrians"]["prerec_0000"]
    assert list(first) == WHOLE
    assert first["start_config"] == first["current_config"] == [3.0, 1.0, float(np.float32(math.pi / 2))]
    assert first["goal_config"] == [3.0, 5.0, float(np.float32(math.pi / 2))]
    assert type(first["collision_cooldown"]) is int and first["last_collision_t"] == 100000000.0


def test_states_say_where_everybody_is_in_the_data(play, suite):
    there = play()[0].joystick
    for name, states in zip(there.episodes, there.states, strict=True):
        read, time = read_episode(name), 0.0
        for step, state in enumerate(states):
            assert list(state) == ["robot_on", "pedestrians", "robots", "delta_t", "episode_max_time", "sim_t"]
            assert state["sim_t"] == time, "summed up step by step"
            now = read.trajectories.at(step * 0.05)
            assert set(state["pedestrians"]) == {read.names[k] for k in np.flatnonzero(now.present)}
            for each, agent in state["pedestrians"].items():
                assert list(agent) == AGENT and agent["name"] == each and agent["radius"] == 0.2
                there_now = now.position[read.names.index(each)] - CORNER
                np.testing.assert_allclose(agent["current_config"][:2], there_now, atol=1e-4)
                assert agent["current_config"] == [float(np.float32(value)) for value in agent["current_config"]]
            time += state["delta_t"]
    names = [list(state["pedestrians"]) for state in there.states[0]]
    assert read_episode("t_one").names == ("prerec_0000", "prerec_0002", "prerec_0003")
    assert names[0] == ["prerec_0000", "prerec_0002"] and names[12] == ["prerec_0000", "prerec_0002", "prerec_0003"]


def test_a_collision_is_counted_once_and_cools_down(play):
    there, _ = play()
    states = there.joystick.states[0]
    cooling = [state["pedestrians"]["prerec_0002"]["collision_cooldown"] for state in states]
    begun = cooling.index(19)
    assert cooling[:begun] == [0] * begun and cooling[begun : begun + 20] == list(range(19, -1, -1))[: len(cooling) - begun]
    robot, person = states[begun]["robots"]["robot_agent"], states[begun]["pedestrians"]["prerec_0002"]
    assert robot["last_collision_t"] == person["last_collision_t"] == states[begun - 1]["sim_t"]
    before = states[begun - 1]
    at = [agent["current_config"][:2] for agent in (before["robots"]["robot_agent"], before["pedestrians"]["prerec_0002"])]
    assert 0.44 - 0.061 < math.dist(*at) < 0.44
    assert there.rows[0]["collisions_pedestrian"] >= 1 and there.rows[1]["collisions_pedestrian"] == 0


def test_several_commands_take_a_step_each_before_the_next_state(play):
    states = play(ahead=3)[0].joystick.states[0]
    assert [round(state["sim_t"] / 0.05) for state in states] == list(range(0, 3 * len(states), 3))


def test_who_gives_no_name_is_called_as_there(play):
    assert {row["planner"] for row in play(name=None)[0].rows} == {"UnknownAlgo"}


def test_time_passes_without_commands_and_the_last_one_is_repeated_a_few_times(play):
    def only_one(joystick, state, number):
        joystick.say(json.dumps({"j_input": [[1.0, 0.0]]}))
        while state["robot_on"]:
            joystick.say("sense")
            state = joystick.hear()
            if state["robot_on"]:
                joystick.states[-1].append(state)
                if state["sim_t"] > 0.8 and not sent_away.is_set():
                    sent_away.set()
                    joystick.say("abandon")
        return False

    sent_away = threading.Event()
    there, folder = play(meeting={"asynchronous": True, "repeats": 3}.items(), watch=only_one)
    seen = np.array([state["robots"]["robot_agent"]["current_config"] for state in there.joystick.states[0]])
    assert math.dist(seen[0, :2], seen[-1, :2]) == pytest.approx(4 * 0.05 * 1.0, abs=1e-5), "once, and three repeats"
    assert there.rows[0]["outcome"] == "planner_failed" and there.rows[0]["failure"] == "the joystick abandoned the episode"
    assert list(RunFolder.read(folder).interrupted()) == ["socnavbench/curated/1/StandIn/0"]


def test_asynchronous_episodes_end_at_the_goal_too(play):
    there, _ = play("tcp", meeting={"asynchronous": True}.items())
    assert [row["outcome"] for row in there.rows] == ["reached", "reached"]
    assert there.rows[0]["time_to_goal"] == pytest.approx(there.joystick.ends[0]["sim_t"])


BAD = {
    "no JSON": (b"{'j_input': [[1, 2]]", "expected sense, ready, abandon, algo: NAME or JSON with j_input"),
    "half a message": (b'{"j_input": [[0.5, 0.1', "expected sense, ready, abandon"),
    "not UTF-8": (b"\xff\xfe\x00", "a message of 3 bytes is not UTF-8"),
    "no mapping": (b"[1, 2]", "expected a mapping with the key j_input, got a list of 2"),
    "other key": (b'{"j_inputs": [[1, 2]]}', "expected a mapping with the key j_input"),
    "three numbers": (b'{"j_input": [[1, 2], [1, 2, 3]]}', r"j_input[1]: expected [v, w] or [x, y, theta, v], got a list of 3"),
    "NaN": (b'{"j_input": [[NaN, 0]]}', "j_input[0]: expected finite numbers"),
    "beyond float32": (b'{"j_input": [[1e39, 0]]}', "j_input[0]: expected finite numbers"),
    "a whole number without end": (b'{"j_input": [[1' + b"0" * 400 + b", 0]]}", "j_input[0]: a number is too large"),
    "words": (b'{"j_input": [["1", true]]}', "j_input[0]: expected numbers"),
    "nothing": (b'{"j_input": []}', "j_input: expected a list of 1 to 10000 commands, got 0 of them"),
    "too many": (json.dumps({"j_input": [[0, 0]] * 10_001}).encode(), "expected a list of 1 to 10000 commands, got 10001 of them"),
    "a million numbers": (json.dumps({"j_input": [[1.5, -2.25]] * 500_000}).encode(), "a message is longer than 1048576 bytes"),
    "nested": (b'{"j_input": ' + b"[" * 100_000, "expected sense, ready, abandon"),
}


@pytest.mark.parametrize("some", [list(BAD)[:7], list(BAD)[7:]], ids=["first half", "second half"])
def test_messages_that_are_none_are_refused_one_by_one_and_change_nothing(play, some):
    whole = decided(play()[0].rows)
    left = [BAD[name] for name in some]

    def spoil(joystick, state, number):
        if number % 3 == 2 and left:
            with suppress(ConnectionError):  # one is too long to be read to its end
                joystick.say(left.pop(0)[0])
        return True

    there, _ = play(watch=spoil)
    assert not left and decided(there.rows) == whole
    refused = [line for line in there.said if line.startswith("message refused: ")]
    for line, name in zip(refused, some, strict=True):
        assert BAD[name][1] in line


def test_a_joystick_that_makes_no_sense_fails_its_episode_and_the_next_is_played(play):
    def babble(joystick, state, number):
        for _ in range(10 if len(joystick.metadata) == 1 and number == 5 else 0):
            joystick.say("forwards!")
        return True

    rows = play(watch=babble)[0].rows
    assert [row["outcome"] for row in rows] == ["planner_failed", "reached"]
    assert rows[0]["failure"].startswith("10 messages from the joystick were refused, most recently: expected sense, ready")


def test_a_connection_that_says_nothing_or_half_of_it_holds_nobody_up(play):
    open_ones = []

    def visit(joystick, state, number):
        if number in (2, 3):
            open_ones.append(stand_in.make_socket(joystick.recv))
            open_ones[-1].connect(stand_in.target(joystick.recv))
            open_ones[-1].sendall(b'{"j_in' * (number == 3))
        return number < 6

    there, folder = play(watch=visit, patience=0.4)
    assert there.rows == []
    reasons = RunFolder.read(folder).interrupted()
    assert reasons["socnavbench/curated/0/StandIn/0"] == (
        "the joystick disconnected: it sent no command for 0.4 s; 1 of its messages are incomplete: a sender must close "
        "its connection after each message"
    )
    assert reasons["socnavbench/curated/1/StandIn/0"].startswith("the joystick disconnected: ")
    for one in open_ones:
        one.close()


def process(meeting, *words):
    script = [sys.executable, stand_in.__file__, str(meeting.receives), str(meeting.sends), *words]
    return subprocess.Popen(script)


def test_a_joystick_that_dies_costs_its_episode_alone_and_another_goes_on(suite, play, tmp_path):
    whole = decided(play()[0].rows)
    meeting, folder = Meeting(address=str(tmp_path / "k"), patience=60.0), tmp_path / "dies"
    length = round(whole[0]["time_to_goal"] / 0.05)
    child = process(meeting, f"vanish={length - 9}")
    rows = rows_by_joystick(suite, folder, meeting)
    assert child.wait(20) == 0 and rows == []
    assert RunFolder.read(folder).interrupted()["socnavbench/curated/0/StandIn/0"] == (
        "the joystick disconnected: its process has ended"
    )
    with pytest.raises(ResultsError, match="continue it with --resume"):
        rows_by_joystick(suite, folder, meeting)
    there, _ = play(folder=folder, resume=True)
    assert decided(there.rows) == whole and RunFolder.read(folder).interrupted() == {}
    before = len(there.joystick.raw)
    assert rows_by_joystick(suite, folder, meeting, resume=True) == there.rows and len(there.joystick.raw) == before


def test_a_run_is_resumed_under_its_own_name_with_the_episodes_that_are_left(play, tmp_path):
    first, folder = play(watch=lambda joystick, state, number: len(joystick.metadata) == 1, patience=0.4)
    assert [row["episode"] for row in first.rows] == [0]
    with pytest.raises(InputError, match="contains results of 'StandIn', but the joystick names its planner 'Other'"):
        play(folder=folder, resume=True, name="Other")
    there, _ = play(folder=folder, resume=True)
    assert there.joystick.episodes == ["t_two"] and [row["episode"] for row in there.rows] == [0, 1]


def test_a_joystick_of_another_name_in_the_middle_is_not_mixed_in(play):
    def rename(joystick, state, number):
        joystick.name = "Other"
        joystick.listener.settimeout(2.0)
        return True

    there, folder = play(watch=rename, patience=0.5)
    assert [row["planner"] for row in there.rows] == ["StandIn"]
    assert (
        "it now names its planner 'Other', but named it 'StandIn' before"
        in RunFolder.read(folder).interrupted()["socnavbench/curated/1/StandIn/0"]
    )


def test_what_another_process_sends_is_refused(play):
    whole = decided(play()[0].rows)
    code = "import sys; sys.path.insert(0, sys.argv[1]); import joystick; joystick.send(sys.argv[2], sys.argv[3])"
    tests = str(Path(stand_in.__file__).parent)

    def intrude(joystick, state, number):
        if number == 3:
            for text in ("abandon", json.dumps({"j_input": [[9.0, 9.0, 0.0, 1.0]] * 5})):
                subprocess.run([sys.executable, "-c", code, tests, joystick.recv, text], check=True)
        return True

    there, _ = play(watch=intrude)
    assert decided(there.rows) == whole
    assert sum("it comes from process" in line and "only one may connect at a time" in line for line in there.said) == 4


def test_a_socket_that_is_taken_is_named_and_a_stale_one_removed(suite, play, tmp_path):
    meeting = Meeting(address=str(tmp_path / "t"))
    path = meeting.receives.path
    with socket.socket(socket.AF_UNIX) as live:
        live.bind(path)
        live.listen(1)
        with pytest.raises(InputError, match=f"{path}: another process already listens there"):
            rows_by_joystick(suite, tmp_path / "x", meeting)
    assert Path(path).is_socket()
    there, _ = play(meeting={"recv": path}.items())
    assert [row["outcome"] for row in there.rows] == ["reached", "reached"] and not Path(path).exists()
    Path(path).write_text("mine")
    with pytest.raises(InputError, match=f"{path}: exists and is not a socket"):
        rows_by_joystick(suite, tmp_path / "x", meeting)
    assert Path(path).read_text() == "mine"
    with socket.socket() as live:
        live.bind(("127.0.0.1", 0))
        live.listen(1)
        port = live.getsockname()[1]
        with pytest.raises(InputError, match=f"127.0.0.1:{port}: cannot listen: Address already in use"):
            rows_by_joystick(suite, tmp_path / "x", Meeting(recv=f"127.0.0.1:{port}"))


def test_addresses_are_refused_with_what_is_expected(tmp_path):
    for text, message in {
        "10.0.0.7:2100": "connections from other machines are not accepted",
        "localhost:0": "expected a port from 1 to 65535",
        "localhost:65535": "expected a port from 1 to 65535",
        "": "expected a path of 1 to 107 bytes, or HOST:PORT",
        "/tmp/" + "x" * 120: "expected a path of 1 to 107 bytes",
    }.items():
        with pytest.raises(InputError, match=message):
            _ = Meeting(address=text)
    with pytest.raises(InputError, match="must differ"):
        Meeting(recv="/tmp/a", send="/tmp/a")
    assert (str(Meeting().receives), str(Meeting().sends)) == ("/tmp/socnavbench_joystick_recv", "/tmp/socnavbench_joystick_send")


def test_a_suite_that_joysticks_cannot_play_is_refused(suite, tmp_path):
    (stage,) = suite.stages
    slow = replace(stage, periods=replace(stage.periods, physics=0.025), pedestrians="visible")
    with pytest.raises(InputError, match="requires pedestrians: truth, periods.physics equal to periods.control"):
        rows_by_joystick(replace(suite, stages=(slow,)), tmp_path, Meeting())
    with pytest.raises(InputError, match="requires world: socnavbench"):
        rows_by_joystick(load_suite("demo"), tmp_path, Meeting())


def test_a_stranger_who_listens_to_nothing_is_not_waited_for(play, monkeypatch):
    monkeypatch.setattr("agora.benchmark.socnavbench.joystick._LISTENS", 0.2)
    meet = StandIn.meet

    def after_a_stranger(joystick):
        while not Path(joystick.recv).exists():
            threading.Event().wait(0.02)
        send(joystick.recv, "sense")
        threading.Event().wait(0.4)
        meet(joystick)

    monkeypatch.setattr(StandIn, "meet", after_a_stranger)
    there, _ = play()
    assert any("a client connected" in line and "cannot be reached" in line for line in there.said)
    assert [row["outcome"] for row in there.rows] == ["reached", "reached"]
