"""Nodes in processes that have imported beforehand what every node imports: they start in a tenth of the time.

A process that has all this imported makes a copy of itself for each node. That nodes start on their own as well is seen where
`roslaunch` starts them, and in `test_life`.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import runpy
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.ros.preloaded"])


class Prepared:
    """A script of Python that runs in a process of its own, like one of `subprocess.Popen`; its group is its own, too."""

    def __init__(self, script: str, arguments: list[str], environment: dict[str, str], output: Path) -> None:
        told, tell = _CONTEXT.Pipe(duplex=False)
        process = _CONTEXT.Process(target=_run, args=(tell, script, arguments, environment, os.getcwd(), str(output)))
        process.start()
        tell.close()
        with told:
            told.recv()
        self._process, self.pid = process, process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, seconds: float | None = None) -> int:
        self._process.join(seconds)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self._process.name, seconds or 0.0)
        return self.returncode


def _run(tell: Connection, script: str, arguments: list[str], environment: dict[str, str], folder: str, output: str) -> None:
    """Become the script, and tell once there are its group and its log."""
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    log = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    with tell:
        tell.send(True)
    sys.stdout.reconfigure(write_through=True)
    sys.argv = [script, *arguments]
    own = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path and path not in sys.path]
    sys.path[:0] = [str(Path(script).parent), *own]
    importlib.reload(importlib.import_module("rospy.names"))  # which reads namespace and remappings of the arguments
    runpy.run_path(script, run_name="__main__")
