"""A stranger's call cannot end the process by `os._exit`; other threads, and processes that it forked, end as they ask."""

import os
import subprocess
import sys

import pytest

from agora.core.untrusted_calls import CallBoundary, ProcessExit

OTHER = """
import os, threading
from agora.core.untrusted_calls import CallBoundary
with CallBoundary():
    threading.Thread(target=os._exit, args=(5,)).start()
    threading.Event().wait(60.0)
"""


def test_a_call_that_ends_the_process_raises_and_the_function_is_as_before():
    usual = os._exit
    with pytest.raises(ProcessExit, match=r"os\._exit\(3\)"), CallBoundary(), CallBoundary():
        os._exit(3)
    assert os._exit is usual


def test_a_thread_beside_the_call_ends_the_process():
    assert subprocess.run([sys.executable, "-c", OTHER], check=False).returncode == 5
