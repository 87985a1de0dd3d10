"""The targets of `raider`: a process, files, sockets and segments that a test makes, and their state."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agora.planners.contained import _bubble as bubble

WALLS = {"alone": False, **({"in namespaces": True} if bubble.is_available() else {})}
"""The ways in which this machine confines a process: without bubblewrap, and with it."""
RAIDER = Path(__file__).with_name("raider.py")
_SYSTEM = ctypes.CDLL(None, use_errno=True)
_PRIVATE, _CREATE, _REMOVE = 0, 0o1600, 0
_WATCHED = ("SigPnd", "ShdPnd", "SigBlk", "SigCgt", "Threads", "Uid", "CapEff", "NoNewPrivs", "Seccomp")


@contextmanager
def walled(walls: str) -> Iterator[None]:
    """Confine processes in one of `WALLS` meanwhile, from a process that has a secret in its environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bubble, "is_available", lambda: WALLS[walls])
        patch.setenv("AGORA_WEB_DATABASE", "secret")
        yield


def _signals_blocked() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


@dataclass
class Victims:
    """What a raider aims at.

    Attributes:
        bystander: process that waits for input; it blocks all signals, so that one that comes is seen as pending.
        folder: folder of a file and of sockets.
        given: places of all, for the raider.
        sockets: sockets that listen.
    """

    bystander: subprocess.Popen[bytes]
    folder: Path
    given: dict[str, Any]
    sockets: list[socket.socket]

    def state(self) -> dict[str, Any]:
        """The state of all that a raider could change."""
        pid = self.bystander.pid
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        place = [path for path in ("/dev/shm", "/tmp", "/var/tmp", "/", "/dev") if Path(path, self.given["token"]).exists()]
        return {
            "runs": any(line.startswith("State") and line.split()[1] in "RSD" for line in status),
            "process": [line for line in status if line.partition(":")[0] in _WATCHED],
            "limits": Path(f"/proc/{pid}/limits").read_text(),
            "score": Path(f"/proc/{pid}/oom_score_adj").read_text(),
            "turn": (os.getpriority(os.PRIO_PROCESS, pid), os.sched_getscheduler(pid), os.sched_getaffinity(pid)),
            "groups": (os.getpgid(pid), os.getsid(pid)),
            "own limits": resource.getrlimit(resource.RLIMIT_CPU),
            "names": sorted(os.listdir(self.folder)),
            "files": [(path.read_text(), *_facts(path)) for path in sorted(self.folder.iterdir()) if path.is_file()],
            "new files": place,
            "host": os.uname().nodename,
            "segments": [_SYSTEM.shmctl(self.given["shm"], 2, bytes(256)), _SYSTEM.msgctl(self.given["msg"], 2, bytes(256))],
            "came": [_came(one) for one in self.sockets],
        }

    def raider(self, folder: Path, **more: Any) -> Path:
        """Write the raider, with these targets."""
        file = folder / "raider.py"
        file.write_text(RAIDER.read_text().replace("TARGETS: dict = {}", f"TARGETS: dict = {self.given | more!r}"))
        return file


_ALONE = """
import ctypes, json, runpy, sys
from agora.planners.contained import _landlock as landlock
from agora.planners.contained._calls import refuse_other_calls
from agora.planners.contained._files import DEVICES, readable_paths
raider = runpy.run_path(sys.argv[2])
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
{layer}
print(json.dumps(dict((name, raider["tried"](name)) for name in sys.argv[3:])))
"""


def alone(folder: Path, they: Victims, layer: str, names: Iterable[str]) -> dict[str, str]:
    """Return what comes of tries in a process that one layer confines, whose code is given."""
    command = [sys.executable, "-c", _ALONE.format(layer=layer), "0", str(they.raider(folder, signal=23)), *names]
    said = subprocess.run(command, check=True, capture_output=True, cwd="/")
    came: dict[str, str] = json.loads(said.stdout)
    return came


def _facts(path: Path) -> tuple[float, ...]:
    facts = path.stat()
    return facts.st_mode, facts.st_uid, facts.st_gid, facts.st_mtime, facts.st_size, facts.st_nlink


def _came(one: socket.socket) -> str:
    with suppress(BlockingIOError):
        if one.type == socket.SOCK_DGRAM:
            return repr(one.recv(100))
        one.accept()[0].close()
        return "a connection"
    return ""


def _listening(family: socket.AddressFamily, kind: socket.SocketKind, at: Any) -> socket.socket:
    made = socket.socket(family, kind)
    made.bind(at)
    if kind == socket.SOCK_STREAM:
        made.listen()
    made.setblocking(False)
    return made


@contextmanager
def victims() -> Iterator[Victims]:
    """Make victims, and remove them."""
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="victims-")))
        (folder / "kept").write_text("kept")
        token = f"agora-{uuid.uuid4().hex}"
        bystander = held.enter_context(
            subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, preexec_fn=_signals_blocked)
        )
        held.callback(bystander.kill)
        unix, stream, datagrams = socket.AF_UNIX, socket.SOCK_STREAM, socket.SOCK_DGRAM
        places = {"name": f"\0{token}", "datagrams": str(folder / "datagrams"), "stream": f"\0{token}-stream"}
        sockets = [
            _listening(unix, datagrams, places["name"]),
            _listening(unix, datagrams, places["datagrams"]),
            _listening(unix, stream, places["stream"]),
            _listening(socket.AF_INET, stream, ("127.0.0.1", 0)),
        ]
        for one in sockets:
            held.enter_context(one)
        segments = {
            "shm": _SYSTEM.shmget(_PRIVATE, 4096, _CREATE),
            "sem": _SYSTEM.semget(_PRIVATE, 1, _CREATE),
            "msg": _SYSTEM.msgget(_PRIVATE, _CREATE),
        }
        held.callback(_SYSTEM.shmctl, segments["shm"], _REMOVE, None)
        held.callback(_SYSTEM.semctl, segments["sem"], 0, _REMOVE)
        held.callback(_SYSTEM.msgctl, segments["msg"], _REMOVE, None)
        given = {
            **{"pid": bystander.pid, "file": str(folder / "kept"), "folder": str(folder), "token": token},
            **{"port": sockets[-1].getsockname()[1]},
            **places,
            **segments,
        }
        yield Victims(bystander, folder, given, sockets)
