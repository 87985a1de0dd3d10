"""A planner of a file runs in a process of its own, and what it does there is its own failure."""

from __future__ import annotations

import os
import select
import signal
import textwrap
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.planners.contained.victims import WALLS, walled

from agora.benchmark.bench import run_all
from agora.benchmark.request_form import RequestForm
from agora.benchmark.results.run_folder import RunFolder
from agora.errors import InputError, PlannerError
from agora.planners.adapters import call, check_answer
from agora.planners.contained import confine
from agora.planners.contained.planner import Contained
from agora.planners.presets import named_planner
from agora.testing import observation
from agora.testing.planners import needed

pytestmark = pytest.mark.skipif(bool(confine.lack()), reason=confine.lack())

PLANNER = """
from dataclasses import dataclass
import ctypes, os, socket, sys, threading, time
import numpy as np
from agora.interfaces import Declaration
from agora.planners.local.pure_pursuit import PurePursuit

@dataclass(frozen=True)
class Mine:
    speed: float = 1.0
    declares = Declaration(needs=("path",))

    def plan(self, observation, memory):
        calls = 0 if memory is None else int(memory[0])
        {body}
        return PurePursuit(speed=self.speed).plan(observation, None)[0], (calls + 1,)
"""


def written(folder, body="pass", name="mine"):
    path = folder / f"{name}.py"
    path.write_text(PLANNER.format(body=textwrap.indent(textwrap.dedent(body), "        ").strip()))
    return path


def rows_of(output, *texts, **more):
    form = RequestForm("demo", texts, output=output, stages=("doorway",), episodes=2, control=False, workers=1, **more)
    return run_all(form.request())


def told(rows):
    """Rows without what a clock says, and without the planner's name."""
    return [{k: v for k, v in row.items() if "planning" not in k and k not in ("key", "planner")} for row in rows]


def test_a_planner_in_a_file_drives_as_it_does_in_this_process(tmp_path):
    file = written(tmp_path)
    rows = rows_of(tmp_path / "out", f'contained:file="{file}",values={{speed: 0.7}}', "pure_pursuit:speed=0.7")
    inside, outside = ([row for row in rows if row["planner"].startswith(name)] for name in ("contained", "pure"))
    assert told(inside) == told(outside) and {row["outcome"] for row in rows} != {"planner_failed"}
    assert str(file) in (RunFolder.read(tmp_path / "out").record.inputs or {})


@pytest.mark.parametrize("name", ["social_force"])
def test_a_planner_with_rasters_and_kernels_answers_as_it_does_in_this_process(tmp_path, name):
    inside = named_planner(name)[1].part
    kind = type(inside)
    (tmp_path / "mine.py").write_text(
        f"from dataclasses import dataclass\nimport {kind.__module__} as theirs\n"
        f"@dataclass(frozen=True)\nclass Mine(theirs.{kind.__name__}):\n    pass\n"
    )
    contained = Contained(str(tmp_path / "mine.py"))
    assert contained.declares.channels == kind().declares.channels
    seen = needed(observation(rows=3, seed=3), contained.declares.needs)
    (expected, _), (answer, failures) = (call(one, seen, {}, np.ones(3, bool)) for one in (kind(), contained))
    assert failures == {} and np.array_equal(expected.twists, answer.twists)


TRIES = [
    ("observation.no_such", "has no attribute 'no_such'"),
    ("sys.exit(3)", "SystemExit"),
    ("os._exit(3)", r"os._exit\(3\)"),
    ("ctypes.CDLL(None)._exit(3)", "its process ended with exit code 3"),
    ("ctypes.string_at(0)", "its process was ended by signal 11"),
    ("os.close(3); [os.close(n) for n in range(4, 64)]", "Bad file|closed its connection|ended"),
    ("raise RecursionError('x' * 10**7)", "RecursionError: xxx"),
    ("bytearray(8 << 30)", "MemoryError"),
    ("while True: pass", "no answer within its deadline of 1 s"),
    ("time.sleep(100)", "no answer within its deadline of 1 s"),
    ("return (float('nan'), 0.0, 0.0), None", "expected three finite numbers"),
    ("return (1.0, 2.0), None", "expected three finite numbers"),
    ("return (0.0, 0.0, 0.0), 'memory'", "memory is of type str"),
    ("open('/tmp/much', 'wb')", "(Permission|No such file|Read-only).*a planner from a file may not start processes.*write files"),
    ("open('/etc/passwd').read()", "(Permission|No such file).*may not start processes.*read files other than Python's"),
    ("os.fork()", "not permitted.*may not start processes"),
    ("threading.Thread(target=print).start()", "can't start new thread.*; a planner from a file may not start processes"),
    ("socket.create_connection(('127.0.0.1', 1))", "not permitted.*may not start processes or threads, open connections"),
    ("sys.stderr.write('x' * (1 << 24)); sys.stderr.flush()", "File too large"),
]
"""What a confined planner can do, and its messages; `test_confine` covers what is refused."""


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """Calls one planner that does what has a number, which stands as its goal, and one more that drives as usual."""
    folder = tmp_path_factory.mktemp("tried")
    tries = [f"if observation.goal[0] == {n}:\n    {body}" for n, (body, _) in enumerate(TRIES)]
    planner = Contained(str(written(folder, "\n".join(tries))), deadline=1.0)
    seen = needed(observation(rows=1, seed=3), ("path",))

    def asked(number):
        planner.act(replace(seen, goal=np.full((1, 3), len(TRIES), np.float32)), {})
        return check_answer(planner.act(replace(seen, goal=np.full((1, 3), number, np.float32)), {}), 1, planner.declares)

    yield asked
    planner._child.close()


@pytest.mark.parametrize("number", range(len(TRIES)), ids=[body for body, _ in TRIES])
def test_whatever_it_does_is_its_own_failure_in_words(tried, number):
    with pytest.raises(PlannerError, match=TRIES[number][1]):
        tried(number)


def drive(planner):
    """Have a planner answer a few calls."""
    seen, memory = needed(observation(rows=1, seed=3), ("path",)), {}
    for _ in range(4):
        answer, failures = call(planner, seen, memory, np.ones(1, bool))
        memory = answer.memory
        if failures:
            raise RuntimeError(failures[0])


def seconds_of(process):
    """The time of a processor that a process has had, s."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11]) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("walls", WALLS)
def test_its_process_ends_with_whoever_asks_even_where_it_hangs(tmp_path, walls):
    with walled(walls):
        check_that_it_ends(tmp_path)


def check_that_it_ends(tmp_path):
    """End a process that asks a planner which hangs."""
    planner = Contained(str(written(tmp_path, "while calls > 0: pass")), deadline=15.0)
    mine, its = os.pipe()
    asking = os.fork()
    if asking == 0:
        seen = needed(observation(rows=1, seed=3), planner.declares.needs)
        memory = planner.act(seen, {}).memory
        os.write(its, str(planner._child._child.pid).encode())
        planner.act(seen, memory)
        os._exit(0)
    confined = int(os.read(mine, 20))
    handle, before = os.pidfd_open(confined), seconds_of(confined)
    while seconds_of(confined) < before + 0.3:
        threading.Event().wait(0.02)
    os.kill(asking, signal.SIGKILL)
    os.waitpid(asking, 0)
    assert select.select([handle], [], [], 60.0)[0], "it goes on alone"
    for one in (handle, mine, its):
        os.close(one)


def test_others_of_the_same_run_have_their_rows(tmp_path):
    file = written(tmp_path, "os._exit(3)")
    rows = rows_of(tmp_path / "out", f'contained:file="{file}"', "pure_pursuit")
    alone = rows_of(tmp_path / "alone", "pure_pursuit")
    failed = [row for row in rows if row["planner"] != "pure_pursuit"]
    assert {row["outcome"] for row in failed} == {"planner_failed"} and len(failed) == 2
    assert told([row for row in rows if row["planner"] == "pure_pursuit"]) == told(alone)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("class Mine:\n    (", r"mine.py: cannot be imported: SyntaxError: .* \(mine.py, line 2\)"),
        ("import no_such_package", "cannot be imported: ModuleNotFoundError: No module named 'no_such_package' .*line 1"),
        ("x = 1", "mine.py: it has no planner class; expected one, a dataclass with declares, and plan or act"),
        ("class Mine: pass", r"no planner class \(its classes are Mine\)"),
        ("class Mine:\n    declares = 1\n    def plan(self): pass", "Mine is not a dataclass"),
        ("import sys\nsys.exit(2)", "cannot be imported: SystemExit"),
        ("import os\nos._exit(2)", "its process ended with exit code 2"),
        ("import os\nos.fork()", "cannot be imported: PermissionError.*may not start processes"),
    ],
)
def test_a_file_that_is_no_planner_is_refused_in_words(tmp_path, text, words):
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(InputError, match=words):
        named_planner(f'contained:file="{tmp_path}/mine.py"')


@pytest.mark.parametrize("text", ["while True: pass", "declares = property(lambda self: [0 for _ in iter(int, 1)])"])
@pytest.mark.parametrize("walls", WALLS)
def test_a_file_that_hangs_when_it_is_imported_or_declares_is_ended(tmp_path, monkeypatch, walls, text):
    monkeypatch.setattr("agora.planners.contained.child.PATIENCE", 1.0)
    (tmp_path / "mine.py").write_text(
        PLANNER.format(body="pass").replace("declares = Declaration", f"{text}\n    unused = Declaration")
    )
    with walled(walls), pytest.raises(InputError, match="it was not imported within 1 s"):
        _ = Contained(str(tmp_path / "mine.py")).declares


def test_wrong_parameters_and_files_are_refused(tmp_path):
    file = written(tmp_path)
    with pytest.raises(InputError, match="sped"):
        named_planner(f'contained:file="{file}",values={{sped: 1}}')
    with pytest.raises(InputError, match="expected a file of Python"):
        named_planner("contained:file=no.py")


def test_code_is_refused_where_the_system_cannot_confine_it(tmp_path, monkeypatch):
    monkeypatch.setattr("agora.planners.contained.planner.lack", lambda: "this kernel has no Landlock")
    with pytest.raises(InputError, match="this kernel has no Landlock"):
        named_planner(f'contained:file="{written(tmp_path)}"')
