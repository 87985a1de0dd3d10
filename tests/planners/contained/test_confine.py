"""A planner of a file gets nowhere, whatever it tries, and harms nobody: with the namespaces of bubblewrap and without."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from tests.planners.contained.raider import TRIES
from tests.planners.contained.victims import WALLS, victims, walled

from agora.errors import InputError, PlannerError
from agora.planners.contained import _bubble as bubble
from agora.planners.contained import _landlock as landlock
from agora.planners.contained import confine
from agora.planners.contained.confine import lack
from agora.planners.contained.planner import Contained
from agora.testing import observation
from agora.testing.planners import needed

pytestmark = pytest.mark.skipif(bool(lack()), reason=lack())


def answer(planner, number):
    """Ask a planner of a file to try what has a number."""
    seen = needed(observation(rows=1, seed=3), ())
    return planner.act(replace(seen, goal=np.full((1, 3), number, np.float32)), {})


@pytest.fixture(scope="module", params=WALLS)
def raid(request, tmp_path_factory):
    """A raider that makes the try of a number, and its victims."""
    with victims() as they, walled(request.param):
        folder = tmp_path_factory.mktemp("raid")
        planner = Contained(str(they.raider(folder)), deadline=10.0)
        own = (folder / "raider.py").read_text()

        def tried(number):
            before = they.state()
            try:
                answer(planner, number)
            finally:
                assert they.state() == before
                assert (folder / "raider.py").read_text() == own and len(list(folder.iterdir())) == 1

        yield tried
        planner._child.close()


@pytest.mark.parametrize("name", TRIES)
def test_a_try_is_refused_and_harms_nobody(raid, name):
    with pytest.raises(PlannerError, match="-> refused"):
        raid(list(TRIES).index(name))


@pytest.mark.parametrize("table", ["int80", "x32"])
def test_calls_of_other_tables_of_the_machine_end_the_process(raid, table):
    with pytest.raises(PlannerError, match=r"was ended by signal (31|11)|another machine"):
        raid({"x32": -2, "int80": -1}[table])


@pytest.mark.parametrize("walls", WALLS)
def test_all_tries_are_refused_while_a_file_is_only_read_for_its_declaration(tmp_path, walls):
    with victims() as they, walled(walls):
        before = they.state()
        with pytest.raises(InputError, match=f"{len(TRIES)} tries, not refused: {{}}"):
            _ = Contained(str(they.raider(tmp_path, **{"at once": True}))).declares
        assert they.state() == before


GETS_THROUGH = (
    *("kill", "tkill", "tgkill", "rt_sigqueueinfo", "pidfd_open", "prlimit64", "setpriority", "sched_setscheduler"),
    *("socket", "socketpair", "sendmsg", "recvfrom", "setsockopt", "shmctl", "msgctl", "memfd_create", "truncate", "utimensat"),
    *("pipe2", "inotify_init1", "mkdirat", "umask", "own a handle", "own a handle of a thread", "choose the signal of a handle"),
    *("have a handle signal", "own a handle by fiosetown", "own a handle by siocspgrp", "send to a name", "send to a path"),
    *("connect to a name", "connect to a port", "read a file", "write a file", "empty a file that it reads", "list its own folder"),
    *(
        "start a program",
        "start a thread",
        "open very many handles",
        "write into /tmp",
        "read /proc/PID/status",
        "read /etc/passwd",
    ),
    *("say more than its output holds", "find a secret in its environment", "chmod"),
)
"""Tries that are safe without confinement, too."""


def test_the_same_tries_get_through_where_nothing_confines_them(tmp_path):
    """Otherwise the tests above would prove nothing."""
    code = "import runpy, sys, json\nraider = runpy.run_path(sys.argv[2])\n"
    code += "print(json.dumps({name: raider['tried'](name) for name in sys.argv[3:]}))"
    one, other = socket.socketpair()
    with victims() as they, one as line, other:
        before = they.state()
        words = [str(line.fileno()), str(they.raider(tmp_path, signal=23)), *GETS_THROUGH]
        with (tmp_path / "errors").open("wb") as errors:
            said = subprocess.run(
                [sys.executable, "-c", code, *words],
                check=True,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={"WORD": "secret"},
                pass_fds=[line.fileno()],
            )
        after = they.state()
    assert {name: came for name, came in json.loads(said.stdout).items() if came != "got through"} == {}
    assert {name for name in before if before[name] != after[name]} >= {"process", "limits", "turn", "names", "files", "came"}


def test_a_system_that_cannot_confine_is_told_what_it_lacks(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(landlock, "version", lambda: -1)
        assert "this kernel has no Landlock" in confine.lack()
    with monkeypatch.context() as patch:
        patch.setattr(confine, "library", lambda: None)
        assert "apt install libseccomp2" in confine.lack()
        with pytest.raises(OSError, match="libseccomp"):
            confine.confine([], 2.0)
    with monkeypatch.context() as patch:
        patch.setattr(bubble, "is_available", lambda: False)
        assert confine.layers() == f"Landlock {landlock.version()}, seccomp"
        patch.setattr(bubble, "is_available", lambda: True)
        assert confine.layers() == f"bubblewrap, Landlock {landlock.version()}, seccomp"


def test_a_process_with_several_threads_is_not_confined():
    held = threading.Event()
    other = threading.Thread(target=held.wait)
    other.start()
    try:
        with pytest.raises(OSError, match="several threads"):
            confine.confine([], 2.0)
    finally:
        held.set()
        other.join()
