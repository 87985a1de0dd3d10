"""bubblewrap holds alone, and is left out if it does not work."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.planners.contained.victims import victims

from agora.planners.contained import _bubble as bubble
from agora.planners.contained._files import readable_paths


@pytest.mark.skipif(not bubble.is_available(), reason="bubblewrap is not installed, or does not work here")
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
    expected |= {"names": "ENOENT", "new": "EROFS"}
    with victims() as they:
        before = they.state()
        given = [str(they.given[name]) for name in ("pid", "port", "stream", "file")]
        given[2] = given[2][1:]
        words = [*bubble.command_prefix(readable_paths()), sys.executable, "-I", "-c", code, *given]
        said = subprocess.run(words, check=True, capture_output=True)
        came = json.loads(said.stdout)
        assert came.pop("write") in ("EROFS", "EACCES") and came == expected and they.state() == before


def test_bubblewrap_is_left_out_if_it_does_not_work_here(monkeypatch, tmp_path):
    (tmp_path / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o700)
    for path in (str(tmp_path), ""):
        monkeypatch.setenv("PATH", path)
        assert not bubble.is_available.__wrapped__()
