"""A call that takes long is told while it lasts, with its planner and line, and Ctrl-C ends it."""

import re
import signal
import threading

import numpy as np
import pytest

from agora.cli.unanswered import Unanswered
from agora.episode import PLANNER, WORLD
from agora.errors import StoppedError
from agora.interfaces import Answer, Declaration
from agora.planners.adapters import call
from agora.testing import observation


class Waits:
    """A planner that answers when something has happened."""

    declares = Declaration()

    def __init__(self, until):
        self.until = until

    def act(self, seen, memory):
        self.until()
        return Answer(np.zeros((1, 3), np.float32), {})


def answer(calls, planner):
    seen = observation(1)
    calls.before(PLANNER)
    found = call(planner, seen, {}, np.array([True]))
    calls.after()
    return found


def test_a_call_that_does_not_answer_is_told_with_its_number_and_its_line():
    told, notices = threading.Event(), []

    def take(line):
        notices.append(line)
        if "told.wait" in line:  # on a busy machine the first notices may come before the planner's code has begun
            told.set()

    with Unanswered("polite", 0.05, take) as calls:
        answer(calls, Waits(lambda: None))
        answer(calls, Waits(lambda: told.wait(60.0)))
    assert re.fullmatch(
        r"planner polite has not returned from call 2 for \d+ s "
        r"\(test_unanswered\.py, line \d+, in <lambda>: .*told\.wait\(60\.0\).*\); press Ctrl-C to stop",
        notices[-1],
    )


def test_a_call_on_its_way_to_the_planner_names_no_line():
    told, notices = threading.Event(), []
    with Unanswered("polite", 0.05, lambda line: (notices.append(line), told.set())) as calls:
        calls.before(PLANNER)
        told.wait(60.0)
        calls.after()
    assert re.fullmatch(r"planner polite has not returned from call 1 for \d+ s; press Ctrl-C to stop", notices[0])


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_names_the_call_that_it_has_ended(sent):
    with pytest.raises(StoppedError) as stopped, Unanswered("polite", 60.0) as calls:
        answer(calls, Waits(lambda: signal.raise_signal(sent)))
    said = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}[sent]
    assert f"stopped by {said}: planner polite has not returned from call 1 for 0 s (test_unanswered.py, line " in str(
        stopped.value
    )
    assert stopped.value.code == 128 + sent


def test_a_signal_between_calls_blames_nobody():
    with pytest.raises(StoppedError, match="^stopped by Ctrl-C$"), Unanswered("polite", 60.0) as calls:
        calls.before(WORLD)
        calls.after()
        signal.raise_signal(signal.SIGINT)
