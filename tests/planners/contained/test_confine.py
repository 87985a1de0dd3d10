"""Each layer of the confinement holds alone what it is there for, and a system without them is told what it lacks."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest
from tests.planners.contained.raider import CALLS
from tests.planners.contained.victims import victims

from agora.planners.contained import bubble, confine, landlock
from agora.planners.contained.files import readable

pytestmark = pytest.mark.skipif(bool(confine.lack()), reason=confine.lack())

ALONE = """
import ctypes, json, runpy, sys
from agora.planners.contained import landlock
from agora.planners.contained.calls import refuse_other_calls
from agora.planners.contained.files import DEVICES, readable
raider = runpy.run_path(sys.argv[2])
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
{layer}
print(json.dumps(dict((name, raider["tried"](name)) for name in sys.argv[3:])))
"""


def alone(folder, they, layer, names, *before):
    """Make tries in a process with one layer only."""
    command = [*before, sys.executable, "-c", ALONE.format(layer=layer), "0", str(they.raider(folder)), *names]
    said = subprocess.run(command, check=True, capture_output=True, cwd="/")
    return json.loads(said.stdout)


def test_the_filter_refuses_all_other_calls_by_itself(tmp_path):
    with victims() as they:
        before = they.state()
        came = alone(tmp_path, they, "refuse_other_calls()", CALLS)
        assert {name: said for name, said in came.items() if said != "refused"} == {} and they.state() == before


def test_landlock_restricts_all_that_its_version_can_by_itself(tmp_path):
    names = {"read a file": 1, "write a file": 1, "empty a file that it reads": 3, "connect to a port": 4}
    names |= {"kill": 6, "have a handle signal another process": 6, "connect to a name": 6, "send to a name": 6}
    layer = "landlock.restrict(readable([__import__('pathlib').Path(sys.argv[2])]), DEVICES)"
    with victims() as they:
        before = they.state()
        came = alone(tmp_path, they, layer, names)
        after = they.state()
    known = landlock.version()
    assert came == {name: "refused" if since <= known else "got through" for name, since in names.items()}
    assert after == before or known < max(names.values())


@pytest.mark.skipif(not bubble.works(), reason="bubblewrap is not installed, or does not work here")
def test_bubblewrap_shows_no_other_process_network_or_file_by_itself():
    code = (
        "import errno, json, os, socket, sys\nsaid = {}\n"
        "def of(name, call, *given):\n"
        "    try: said[name] = repr(call(*given))\n"
        "    except OSError as error: said[name] = errno.errorcode[error.errno]\n"
        "pid, port, name, file = int(sys.argv[1]), int(sys.argv[2]), chr(0) + sys.argv[3], sys.argv[4]\n"
        "of('signal', os.kill, pid, 9)\nof('number', os.getpid)\nof('port', socket.create_connection, ('127.0.0.1', port))\n"
        "of('name', socket.socket(socket.AF_UNIX).connect, name)\nof('file', open, file)\nof('names', os.stat, '/etc/passwd')\n"
        "of('write', open, os.__file__, 'a')\nof('new', os.mkdir, '/new')\nprint(json.dumps(said))"
    )
    expected = {"signal": "ESRCH", "number": "1", "port": "ECONNREFUSED", "name": "ECONNREFUSED", "file": "ENOENT"}
    expected |= {"names": "ENOENT", "write": "EROFS", "new": "EROFS"}
    with victims() as they:
        before = they.state()
        given = [str(they.given[name]) for name in ("pid", "port", "stream", "file")]
        given[2] = given[2][1:]
        words = [*bubble.words(readable()), sys.executable, "-I", "-c", code, *given]
        said = subprocess.run(words, check=True, capture_output=True)
        assert json.loads(said.stdout) == expected and they.state() == before


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
        patch.setattr(bubble, "works", lambda: False)
        assert confine.layers() == f"Landlock {landlock.version()}, seccomp"
        patch.setattr(bubble, "works", lambda: True)
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


def test_bubblewrap_is_left_out_if_it_does_not_work_here(monkeypatch, tmp_path):
    (tmp_path / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o700)
    for path in (str(tmp_path), ""):
        monkeypatch.setenv("PATH", path)
        assert not bubble.works.__wrapped__()
