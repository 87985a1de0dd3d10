"""A process of the command line ends, with its exit code and without a traceback, whatever happens to its streams and threads."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

COMMAND = "import sys\nfrom agora.cli.app import main\nsys.argv = ['agora', 'list', *sys.argv[1:]]\nmain()\n"
THREAD = (
    "import sys, threading\n"
    "from agora.cli import app, ending\n"
    "ending._PATIENCE = 0.3\n"
    "threading.Thread(target=threading.Event().wait, name='of the planner').start()\n"
    "sys.argv = ['agora', 'list', *sys.argv[1:]]\n"
    "app.main()\n"
)


def ended(script: str, *arguments: str, streams: str = "") -> tuple[int, str, str]:
    line = shlex.join([sys.executable, "-c", script, *arguments])
    done = subprocess.run(["bash", "-c", f"{line} {streams}"], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("streams", [">&-", "<&- >&- 2>&-"])
def test_closed_streams_change_neither_the_exit_code_nor_leave_a_traceback(streams):
    code, said, error = ended(COMMAND, "suites", streams=streams)
    assert (code, said, error) == (0, "", "")
    code, said, error = ended(COMMAND, "suits", streams=streams)
    assert code == 2 and "Traceback" not in error and said == ""


def test_a_file_that_is_opened_while_the_output_is_closed_does_not_get_the_output(tmp_path):
    script = COMMAND.replace("main()\n", "").replace(
        "import sys\n", "import sys\nfrom agora.cli.ending import open_streams\nopen_streams()\n"
    )
    script += f"file = open({str(tmp_path / 'kept')!r}, 'w')\nmain()\nfile.close()\n"
    assert ended(script, "suites", streams=">&-")[::2] == (0, "")
    assert (tmp_path / "kept").read_text() == ""


def test_a_reader_that_stops_reading_ends_the_command_without_a_word():
    line = shlex.join([sys.executable, "-c", COMMAND])
    done = subprocess.run(["bash", "-c", f"{line} | true"], capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == ""


def test_a_thread_that_a_component_has_left_behind_is_named_and_does_not_keep_the_process():
    assert ended(THREAD, "suites")[0] == 0
    code, said, error = ended(THREAD, "suits")
    assert code == 2 and said == "" and error.splitlines()[0].startswith("error: no kind called 'suits'")
    assert error.splitlines()[-1] == (
        "threads of a component are still running: of the planner; the process ends without waiting for them"
    )
