"""Programs in any language drive as planners in this process do, to the bit, and their faults stay in the rows they are about."""

from __future__ import annotations

import ast
import json
import multiprocessing
import pickle
import shlex
import subprocess
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.programs import EXAMPLES, Last, cpp_program, framed, python_program, reply, running, talking
from tests.starts import people, start
from tests.test_docs import ROOT, blocks
from typer.testing import CliRunner

from agora.benchmark.results.store import read_rows
from agora.cli.app import app
from agora.core.recording import Outcome, Reason, Recording
from agora.costmap.window import Window
from agora.episode import Conditions, Episodes
from agora.errors import InputError, PlannerError
from agora.interfaces import Answer, Declaration, Observation
from agora.metrics.planning_time import asked_again
from agora.optics.lidar import Lidar
from agora.pedestrians.models.waypoint import Waypoint
from agora.planners.adapters import ASKED_AGAIN, call
from agora.planners.guided import GuidedPlanner
from agora.planners.presets import runnable_planners
from agora.planners.remote import Remote
from agora.registry import Named
from agora.testing import check_planner, observation
from agora.testing.planners import needed
from agora.wire.message import decode, encode, pack
from agora.wire.question import Hello, Question, Reply
from agora.wire.stream import frame

PAGE = ROOT / "docs" / "how-to" / "planner_in_another_language.md"
WALKERS = people([(2.0, -0.9), (3.4, 1.2)], [(2.0, 7.0), (3.4, 9.0)], speed=0.8)
STARTS = [
    start(goal=(6.0, 3.5, 0.0), crowd=WALKERS, timeout=12.0),
    start(pose=(1.1, -2.0, 2.4), goal=(-3.0, 1.0, 0.0), timeout=9.0),
    start(pose=(3.3, 2.0, -1.7), goal=(2.0, -3.0, 0.0), crowd=WALKERS, timeout=3.0),
]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The addresses of the two programs of the examples."""
    with ExitStack() as stack:
        folder = tmp_path_factory.mktemp("programs")
        yield SimpleNamespace(python=stack.enter_context(python_program(folder)), cpp=stack.enter_context(cpp_program(folder)))


def played(planner: Any, starts=STARTS, worlds: int = 0) -> list[Recording]:
    found = dict(Episodes(starts, planner, Conditions(crowd=Waypoint(), ends=0), worlds=worlds))
    return [found[k][0] for k in range(len(starts))]


def rule() -> Any:
    """The function ``_twist`` of the program in Python, whose last line would serve."""
    path = EXAMPLES / "remote_planner.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body.pop()
    names: dict[str, Any] = {}
    exec(compile(tree, str(path), "exec"), names)
    return names["_twist"]


@dataclass(frozen=True)
class Here:
    """The rule of the programs, in this process."""

    declares: ClassVar[Declaration] = Declaration(needs=("path", "pedestrians"))

    def plan(self, observation: Observation, memory: Any) -> Any:
        o, people = observation, observation.pedestrians
        limits = float(o.limits.max_vx), float(o.limits.max_omega)
        known = people.position.tolist(), people.radius.tolist(), people.present.tolist()
        return rule()(o.pose.tolist(), o.path.tolist(), int(o.path_count), float(o.radius), *limits, *known), memory


def test_the_examples_are_as_short_as_the_manual_says_and_need_nothing_of_agora():
    for name, most in (("remote_planner.cpp", 64), ("remote_planner.py", 42)):
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        assert text.count("\n") <= most and "import agora" not in text and "from agora" not in text


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_a_program_keeps_the_contract_of_planners(programs, language):
    check_planner(Remote(getattr(programs, language)), kinds=("differential", "holonomic"))


def test_a_program_drives_as_the_same_rule_does_in_this_process_to_the_bit_for_any_batch(programs):
    here, there = played(Here()), played(Remote(programs.python))
    alone = played(Remote(programs.python), worlds=1)
    assert [one.outcome for one in here] == [Outcome.REACHED, Outcome.REACHED, Outcome.TIMEOUT]
    assert min(one.twist[:, 0].max() for one in here) > 0.9
    assert (here[0].twist[1:-1, 0] == 0.0).any()  # it has waited for somebody
    for mine, its, single in zip(here, there, alone, strict=True):
        for other in (its, single):
            assert encode(replace(mine, planning_time=other.planning_time)) == encode(other)


def test_programs_in_two_languages_drive_the_same(programs):
    seen = needed(observation(rows=9, pedestrians=6, seed=4), ("path", "pedestrians"))
    python, cpp = Remote(programs.python), Remote(programs.cpp)
    assert cpp.act(seen, {}).twists == pytest.approx(python.act(seen, {}).twists, abs=1e-6)
    for mine, its in zip(played(python), played(cpp), strict=True):
        assert its.outcome == mine.outcome and its.pose == pytest.approx(mine.pose, abs=1e-4)


def test_an_interplanner_stands_in_front_of_a_program(programs):
    guided = GuidedPlanner(Named("remote", Remote(programs.cpp)), Named.of("interplanners", "polite"))
    assert played(guided, STARTS[:1])[0].failure == ""


def test_the_page_can_be_followed_word_by_word(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(EXAMPLES)
    program = next(block.text for block in blocks(PAGE) if block.language == "python")
    for lines in (block.text for block in blocks(PAGE) if block.language == "console"):
        (served,) = (line.removesuffix(" &") for line in lines.splitlines() if line.endswith(" &"))
        before, _, after = lines.partition(f"{served} &\n")
        typed(before)
        with running(shlex.split(served), shlex.split(served)[-1], tmp_path):
            typed(after.removesuffix("kill %1\n"))
            if "cpp.socket" in served:
                exec(program, names := {})
                assert set(names["planner"].declares.channels) == {"path", "pedestrians"}
    rows = [row for row in read_rows(tmp_path / "results" / "remote" / "episodes") if row["planner"].startswith("remote:")]
    outcomes = [row["outcome"] for row in rows]
    assert len(rows) == 24 and not any(row["failure"] for row in rows) and outcomes.count("reached") > 12


def typed(lines: str) -> None:
    """Type what a page shows, without what runs beside it."""
    for words in map(shlex.split, lines.splitlines()):
        if words[0] == "agora":
            answer = CliRunner().invoke(app, words[1:], catch_exceptions=False)
            assert answer.exit_code == 0, answer.output
        else:
            subprocess.run(words, check=True)


def test_the_headers_that_the_page_shows_are_those_of_messages():
    hello, answer = (json.dumps(json.loads(block.text)).encode() for block in blocks(PAGE) if block.language == "json")
    said = decode(len(hello).to_bytes(8, "little") + hello, Hello)
    assert said == Hello(needs=("path", "pedestrians"))
    twists = np.arange(12, dtype=np.float32).reshape(4, 3)
    found = decode(len(answer).to_bytes(8, "little") + answer + twists.tobytes(), Reply)
    assert (found.twists == twists).all() and found.memory == {} and found.notes == {} and found.number == 7


def counting(question: Question) -> Answer:
    """Twists that count the calls of each row since its episode began, in its memory."""
    rows = len(question.observation.pose)
    steps = question.memory.get("steps", np.zeros(rows, np.int64)) + 1
    twists = np.stack([0.01 * steps, 0.0 * steps, 0.0 * steps], -1).astype(np.float32)
    return Answer(twists, {"steps": steps}, {"reason": np.full(rows, Reason.WAITING, np.int8)})


def test_what_a_program_remembers_of_a_row_comes_back_until_its_episode_ends():
    with talking(counting, Hello(notes=("reason",), period=0.1)) as address:
        for worlds in (1, 3):
            for recording in played(Remote(address), worlds=worlds):
                asked = recording.twist[1:, 0]  # the robot does what it is asked for at the same call
                assert asked[:20] == pytest.approx(0.01 * np.arange(1, 21), abs=1e-6)
                assert set(recording.reason[:-1]) == {Reason.WAITING}


def test_a_planner_that_goes_to_another_process_asks_there_over_a_connection_of_its_own():
    with talking(counting, Hello(notes=("reason",))) as address:
        planner, seen = Remote(address), needed(observation(rows=2), ())
        first = planner.act(seen, {})
        carried = pickle.loads(pickle.dumps(planner))
        assert carried == planner and carried.declares == planner.declares
        assert (carried.act(seen, first.memory).twists[:, 0] == np.float32(0.02)).all()
        with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
            said = list(pool.map(planner.act, [seen, seen], [{}, first.memory]))
        assert [float(answer.twists[0, 0]) for answer in said] == pytest.approx([0.01, 0.02])
        assert (planner.act(seen, first.memory).twists[:, 0] == np.float32(0.02)).all()


def right(question: Question) -> np.ndarray:
    """The rows whose robots are right of x = 0."""
    return question.observation.pose[:, 0] > 0.0


def good(question: Question, value: float = 0.25) -> Answer:
    return Answer(np.full((len(question.observation.pose), 3), value, np.float32))


def where_right(value: float) -> Any:
    """Answer so, with a value in the rows whose robots are right."""

    def answer(question: Question) -> Answer:
        return Answer(np.where(right(question)[:, None], np.float32(value), np.float32(0.25)) * np.ones((1, 3), np.float32))

    return answer


VERSION = pack("agora.answer", 1, {"twists": np.zeros((1, 3), np.float32)})
FAULTS = {
    "it closes the connection": (lambda q: None, "closed the connection after 0 bytes of its answer"),
    "it closes it in the middle": (
        lambda q: Last(frame(reply(good(q), q))[:40]),
        "closed the connection after 36 bytes of its answer",
    ),
    "a text": (lambda q: b"SSH-2.0-OpenSSH_9.2\r\n", "its answer has 759714643 bytes, expected a message of at most 67108864"),
    "no message": (lambda q: framed(b"twists: 0 0 0"), "answer: its header has 2322295501852604276 bytes, expected at most"),
    "a short length": (lambda q: framed(encode(reply(good(q), q))[:-4]), "answer: expected an Agora message"),
    "another message": (lambda q: Hello(), "answer: expected the format agora.answer, got agora.hello"),
    "another version": (
        lambda q: framed(VERSION),
        "answer: version 1 of agora.answer; this Agora reads version 2: since version 2 an answer repeats the number of its",
    ),
    "another type": (
        lambda q: framed(pack("agora.answer", 2, {"number": 1, "twists": np.zeros((1, 3))})),
        "answer: twists: expected an array of float32",
    ),
    "no number": (
        lambda q: framed(pack("agora.answer", 2, {"twists": np.zeros((1, 3), np.float32)})),
        "answer: number: expected an integer, got nothing: the key is missing",
    ),
    "the number of another question": (
        lambda q: frame(reply(good(q), replace(q, number=q.number - 1))),
        ", expected an answer to question ",
    ),
    "no twists": (lambda q: framed(pack("agora.answer", 2, {"number": 1})), "answer: twists: expected"),
    "another key": (
        lambda q: framed(pack("agora.answer", 2, {"number": 1, "twist": np.zeros((1, 3), np.float32)})),
        "answer: twist: unknown key; did you mean 'twists'?",
    ),
    "rows are missing": (lambda q: Answer(np.zeros((7, 3), np.float32)), "twists of shape (7, 3), not (1, 3)"),
    "NaN": (where_right(np.nan), "answer: twists: expected numbers, got NaN"),
    "an infinite twist": (where_right(np.inf), "twist (inf, inf, inf)"),
    "no memory": (lambda q: replace(good(q), memory={"a": np.zeros(3)}), "memory 'a' is not an array with 1 rows"),
    "an unknown note": (
        lambda q: replace(good(q), notes={"mood": np.zeros(1, np.int8)}),
        "notes 'mood', which it does not declare",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_program_that_does_wrong_fails_in_the_rows_that_it_does_wrong_in_and_says_why(fault):
    wrong, words = FAULTS[fault]

    def answer(question: Question) -> Any:
        return wrong(question) if right(question).any() else good(question)

    with talking(answer) as address:
        seen = needed(observation(rows=5, seed=3), ())
        bad = seen.pose[:, 0] > 0.0
        assert 0 < bad.sum() < 5
        said, failures = call(Remote(address), seen, {}, np.ones(5, np.bool_))
        assert set(failures) == set(np.flatnonzero(bad)) and all(words in reason for reason in failures.values()), failures
        assert (said.twists[bad] == 0.0).all() and (said.twists[~bad, 0] == 0.25).all()


def test_an_episode_whose_program_is_too_slow_ends_as_failed_and_the_late_answer_is_given_to_nobody():
    go_on, calls = threading.Event(), []

    def answer(question: Question) -> Any:
        calls.append(len(calls))
        if len(calls) == 3:
            assert go_on.wait(60.0)
            return good(question, 0.9)
        return good(question, 0.25)

    with talking(answer, Hello(deadline=1.5)) as address:
        planner = Remote(address)
        (recording,) = played(planner, STARTS[1:2])
        assert recording.outcome == Outcome.PLANNER_FAILED
        assert recording.failure == f"program at {address}: no answer within its deadline of 1.5 s"
        go_on.set()
        seen = needed(observation(rows=2), ())
        assert [planner.act(seen, {}).twists[0, 0] for _ in range(3)] == [0.25] * 3


@pytest.mark.parametrize("late", [False, True])
def test_a_program_that_answers_a_question_twice_fails_and_no_answer_is_taken_for_that_to_another_question(late):
    """It steers by the number of its question, so that a robot which is led by answers to others would show it."""
    asked = []

    def answer(question: Question) -> Any:
        asked.append(question.number)
        own = frame(reply(good(question, 0.1 * question.number), question))
        if question.number != 3:
            return own
        return own + (own[:5] if late else own)  # the rest of a message that is still on its way, or a whole one

    with talking(answer) as address:
        planner, seen = Remote(address), needed(observation(rows=1), ())
        twists = [planner.act(seen, {}).twists[0, 0] for _ in range(3)]
        with pytest.raises(PlannerError, match=r"sent \d+ bytes after one answer to question 3 before the next question"):
            planner.act(seen, {})
        twists += [planner.act(seen, {}).twists[0, 0] for _ in range(2)]
    assert twists == pytest.approx([0.1, 0.2, 0.3, 0.1, 0.2], abs=1e-6) and asked == [1, 2, 3, 1, 2]


def test_an_answer_that_comes_after_the_next_question_is_not_taken_for_the_answer_to_that():
    before: list[bytes] = []

    def answer(question: Question) -> Any:
        """The first question is answered twice, the second time when the next one is asked: everything is one late from then on."""
        before.append(frame(reply(good(question, 0.1 * question.number), question)))
        return before[-1] if len(before) == 1 else before[-2]

    with talking(answer) as address:
        planner, seen = Remote(address), needed(observation(rows=1), ())
        assert planner.act(seen, {}).twists[0, 0] == np.float32(0.1)
        with pytest.raises(PlannerError, match="answered question 1, expected an answer to question 2"):
            planner.act(seen, {})


def test_an_episode_whose_program_answers_twice_ends_as_failed_like_one_whose_planner_raises():
    def answer(question: Question) -> Any:
        own = frame(reply(good(question), question))
        return own + own if question.number == 20 else own

    with talking(answer) as address:
        (recording,) = played(Remote(address), STARTS[1:2])
    assert recording.outcome == Outcome.PLANNER_FAILED and recording.time[-1] == pytest.approx(2.0)
    assert recording.failure.endswith("bytes after one answer to question 20 before the next question")


def test_a_program_that_hangs_up_among_several_robots_is_asked_for_each_again_and_the_recordings_count_it():
    calls = []

    def answer(question: Question) -> Any:
        calls.append(len(question.observation.pose))
        return None if len(calls) in (5, 40) else good(question)

    with talking(answer) as address:
        several = played(Remote(address), STARTS)
        again = [asked_again(one) for one in several]
        calls.clear()
        (alone,) = played(Remote(address), STARTS[1:2])
    assert again[:2] == [2.0, 2.0] and {one.failure for one in several} == {""}
    assert calls[:5] == [1] * 5 and alone.outcome == Outcome.PLANNER_FAILED and asked_again(alone) == 0.0
    assert alone.failure == f"program at {address}: closed the connection after 0 bytes of its answer"


def test_a_program_that_misses_its_deadline_again_and_again_is_not_asked_any_more():
    go_on, calls = threading.Event(), []

    def answer(question: Question) -> Any:
        calls.append(len(question.observation.pose))
        if len(question.observation.pose) > 1:
            go_on.wait(60.0)
        return good(question)

    with talking(answer, Hello(deadline=0.05)) as address:
        planner, seen = Remote(address), needed(observation(rows=3), ())
        every = np.ones(3, np.bool_)
        for _ in range(60):
            answer, failures = call(planner, seen, {}, every)
            if len(failures) == len(every):
                break
            answered = [row for row in range(len(every)) if row not in failures]  # on a busy machine a single row may be late, too
            assert answer.notes[ASKED_AGAIN].all() and (answer.twists[answered, 0] == 0.25).all()
        assert set(failures) == {0, 1, 2} and 10 * 0.05 < planner._line.waited < 10 * 0.05 + 30.0
        words = f"program at {address}: is no longer queried: {planner._line.unanswered} unanswered questions took"
        assert all(reason.startswith(words) for reason in failures.values())
        asked = len(calls)
        call(planner, seen, {}, every)
        assert len(calls) == asked
        go_on.set()


def test_a_program_of_the_first_version_is_refused_before_the_first_episode_and_told_what_has_changed():
    with (
        talking(good, framed(pack("agora.hello", 1, {"needs": ["path"]}))) as address,
        pytest.raises(InputError, match="hello: version 1 of agora.hello; this Agora reads version 2: since version 2 an answer"),
    ):
        _ = Remote(address).declares


def test_a_program_that_was_started_anew_is_asked_again_unless_it_needs_something_else():
    hello = [Hello()]
    with talking(good, lambda: hello[0]) as address:
        planner, seen = Remote(address), needed(observation(rows=2), ())
        assert planner.act(seen, {}).twists[0, 0] == 0.25
        planner._line.close()
        assert planner.act(seen, {}).twists[0, 0] == 0.25
        planner._line.close()
        hello[0] = Hello(needs=("scan",))
        with pytest.raises(PlannerError, match=f"program at {address}: sent a different hello than before; restart the run"):
            planner.act(seen, {})
    with pytest.raises(PlannerError, match=f"program at {address}: nothing is listening .*; start the program first"):
        planner.act(seen, {})


def test_a_program_may_need_channels_with_parameters():
    needs = ("scan", {"name": "costmap", "window": {"size": 4.0}}, {"name": "semantics", "window": {"attributes": ["pedestrian"]}})
    shapes = []

    def look(question: Question) -> Answer:
        o = question.observation
        assert o.path is None and o.pedestrians is None and isinstance(o.dt, float)
        shapes.append((o.costmap.cost.shape, o.scan.shape, o.semantics.attributes))
        return good(question)

    with talking(look, Hello(needs=needs, turns_at_goal=True, top_speed=0.5)) as address:
        planner = Remote(address)
        assert planner.declares.channels["costmap"] == Window(size=4.0)
        assert planner.declares.turns_at_goal and planner.declares.top_speed == 0.5
        conditions = Conditions(lidar=Lidar(beams=30), crowd=Waypoint(), ends=0)
        ((_, (recording,)),) = Episodes([replace(STARTS[0], timeout=1.0)], planner, conditions)
    side = Window(size=4.0).cells
    assert recording.failure == "" and set(shapes) == {((1, side, side), (1, 30), ("pedestrian",))}


@pytest.mark.parametrize(
    ("hello", "words"),
    [
        (Hello(needs=("scam",)), "no channel called 'scam'; did you mean 'scan'?"),
        (Hello(needs=({"name": "costmap", "window": {"sise": 4.0}},)), "needs.*window.sise: unknown key; did you mean 'size'?"),
        (Hello(notes=("mood",)), "notes: no note called 'mood'"),
        (framed(pack("agora.hello", 3, {})), "hello: version 3 of agora.hello; this Agora reads version 2"),
        (framed(pack("agora.hello", 2, {"need": []})), "hello: need: unknown key; did you mean 'needs'?"),
        (framed(pack("agora.hello", 2, {"deadline": 0.0})), r"hello: deadline: expected a number in \(0, 36000\], got 0.0"),
        (framed(pack("agora.hello", 2, {"needs": "path"})), "hello: needs: expected a list, got 'path'"),
        (b"HTTP/1.1 400 Bad Request\r\n", "its hello has 1347703880 bytes"),
    ],
    ids=str,
)
def test_a_hello_that_makes_no_sense_is_refused_before_anything_is_run(hello, words, tmp_path):
    with talking(good, hello) as address:
        with pytest.raises(InputError, match=words):
            _ = Remote(address).declares
        answer = CliRunner().invoke(app, ["bench", "demo", "-p", f"remote:address={address}", "-o", str(tmp_path / "x")])
        assert answer.exit_code == 2 or isinstance(answer.exception, InputError)
        assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("127.0.0.1:0", "expected a port from 1 to 65535"),
        (":7000", "expected a host before the colon"),
        ("", "expected a path of 1 to 107 bytes, or HOST:PORT"),
        ("/" + 120 * "x", "expected a path of 1 to 107 bytes"),
    ],
)
def test_an_address_that_is_none_is_refused(address, words):
    with pytest.raises(InputError, match=words):
        Remote(address)


def test_a_benchmark_without_planners_leaves_out_what_needs_an_address_and_says_how_to_name_it():
    here, reasons = runnable_planners()
    assert "remote" not in here and reasons["remote"] == "it has no default for address; name it with --planner remote:address=..."
