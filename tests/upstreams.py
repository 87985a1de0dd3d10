"""Follows the manual's pages on real upstreams word by word, each in an empty Debian 12: ``make upstreams``.

    python -m tests.upstreams [NAME ...] [--folder FOLDER] [--mirror FOLDER] [--debian URL] [--over FOLDER]

The pages hold the commands, and this file holds none of theirs: it reads the table and the commands of ``src/README.md``, "Real
upstreams", builds a stack with them, and starts the graph by the ``roslaunch`` lines of the stack's own page. A line passes if a
robot reaches a goal and no node prints a traceback. It needs root, debootstrap, a network, and an hour per stack.

``base`` in the folder, ``build/upstreams`` by default, is a Debian 12 with the current commit and its ``make ros``. Each stack is
an overlayfs layer over it, so the folder must not be on an overlayfs itself. Delete a layer to begin it anew. The graph runs in a
network namespace, so it disturbs no roscore outside.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILDING = ("src/README.md", "Real upstreams")
CLONE = "/root/agora"
SETUP = f"cd {CLONE} && . build/ros/devel/setup.bash"
_PATIENCE = 900.0  # s until a robot reaches a goal; the first start compiles


@dataclass(frozen=True)
class Stack:
    """A stack of upstream packages.

    Attributes:
        wanted: first cell of its row in the table.
        page: its own page, and the heading above its ``roslaunch`` lines.
        starts: pattern of the lines that start it.
        before: page and heading of commands that come before the build.
    """

    wanted: str
    page: tuple[str, str]
    starts: str
    before: tuple[str, str] | None = None


FLEX = "docs/how-to/move_base_flex.md"
STACKS = {
    "flatland": Stack("Flatland", ("docs/how-to/simulators.md", "Flatland, Gazebo, Unity"), "simulator:=flatland"),
    "move_base_flex": Stack("Move Base Flex", (FLEX, "One command"), "navigation:=mbf(?!.*local_planner:=teb)"),
    "teb": Stack("Move Base Flex with TEB", (FLEX, "One command"), "navigation:=mbf.*local_planner:=teb", (FLEX, "TEB")),
    "unity": Stack("Unity", ("docs/reference/unity.md", "The contract of a Unity player"), "simulator:=unity"),
}


def section(page: str, heading: str) -> str:
    """The text below a heading of a page, up to the next heading."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise SystemExit(f"{page} has no heading {heading!r}")
    return found[1]


def commands(page: str, heading: str) -> list[str]:
    """The blocks of commands below a heading of a page."""
    return re.findall(r"^```(?:console|bash)\n(.*?)^```", section(page, heading), re.DOTALL | re.MULTILINE)


def row(stack: Stack) -> tuple[list[str], list[str]]:
    """The lines of ``.rosinstall`` and the Debian packages that a stack needs, by the table."""
    found = re.search(rf"^\| {re.escape(stack.wanted)} \|(.*?)\|(.*?)\|$", section(*BUILDING), re.MULTILINE)
    if found is None:
        raise SystemExit(f"{BUILDING[0]} has no row {stack.wanted!r}")
    packages = re.match(r" `([^`]*)`", found[2])
    return re.findall(r"`([^`]*)`", found[1]), packages[1].split() if packages else []


def starts(stack: Stack) -> list[str]:
    """The lines of a stack's page that start the graph with it."""
    lines = "\n".join(commands(*stack.page)).replace("\\\n", " ").splitlines()
    return [line.partition("   #")[0] for line in lines if "roslaunch" in line and re.search(stack.starts, line)]


def kept(lines: Sequence[str]) -> str:
    """``.rosinstall`` without the repositories that are not in ``lines``."""
    text = (ROOT / ".rosinstall").read_text(encoding="utf-8")
    known = re.findall(r"local-name: ([\w-]+),", text)
    if unknown := set(lines) - set(known):
        raise SystemExit(f".rosinstall has no {sorted(unknown)}, of which the table of {BUILDING[0]} speaks")
    return "".join(line for line in text.splitlines(keepends=True) if any(f"local-name: {name}," in line for name in lines))


class Room:
    """A root file system in which commands run, each with its own processes and mounts.

    Args:
        folder: layer above ``base``.
        mirror: folder of repositories OWNER/NAME.git that stand in for GitHub.
    """

    def __init__(self, folder: Path, mirror: Path | None) -> None:
        self.folder, self._mirror, self._base = folder, mirror, folder.parent / "base"
        self._layered, self._root = folder != self._base, folder
        if self._layered:
            self._root = folder / "root"
            for part in ("upper", "work", "root"):
                (folder / part).mkdir(parents=True, exist_ok=True)

    def _command(self, script: str, alone: bool) -> list[str]:
        root = shlex.quote(str(self._root))
        layers = f"lowerdir={self._base},upperdir={self.folder}/upper,workdir={self.folder}/work"
        inside = [f"mount -t overlay overlay -o {shlex.quote(layers)} {root}"] * self._layered
        inside += [f"mount -t proc proc {root}/proc", f"mount --rbind /dev {root}/dev"]
        if self._mirror:
            inside += [f"mkdir -p {root}/mirror", f"mount --bind {shlex.quote(str(self._mirror))} {root}/mirror"]
        inside += ["ip link set lo up"] * alone
        clean = "env -i HOME=/root PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin LANG=C.UTF-8"
        clean += " DEBIAN_FRONTEND=noninteractive PYTHONUNBUFFERED=1"
        inside += [f"exec chroot {root} {clean} bash -c {shlex.quote('set -e; ' + script)}"]
        spaces = ["--mount", "--pid", "--fork", "--kill-child"] + ["--net"] * alone
        return ["unshare", *spaces, "bash", "-e", "-c", "\n".join(inside)]

    def run(self, script: str) -> None:
        """Run a script to its end.

        Raises:
            SystemExit: it fails.
        """
        print(f"--- {script}", flush=True)
        if code := subprocess.run(self._command(script, False), check=False).returncode:
            raise SystemExit(f"the command failed with {code}")

    def drives(self, script: str) -> str:
        """Return the reason why no robot reaches a goal in a graph that a script starts; empty if one does."""
        print(f"--- {script}", flush=True)
        said, arrived = list[str](), threading.Event()
        command = self._command(f"exec {script}", True)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

        def listen() -> None:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                said.append(line)
                if re.search(r"episode \d+: reached", line):
                    arrived.set()

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        end = time.monotonic() + _PATIENCE
        while not arrived.wait(0.5) and process.poll() is None and time.monotonic() < end:
            continue
        for number, patience in ((signal.SIGINT, 60.0), (signal.SIGKILL, None)):
            if process.poll() is None:
                os.killpg(process.pid, number)
            try:
                process.wait(patience)
                break
            except subprocess.TimeoutExpired:
                continue
        listener.join()
        if any("Traceback" in line for line in said):
            return "a node printed a traceback"
        return "" if arrived.is_set() else "no robot reached a goal"


def make_base(base: Path, debian: str, over: Path | None) -> None:
    """Make an empty Debian 12 with the current commit and its first ``make ros``."""
    if (base / "made").exists():
        return
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir(parents=True)
    subprocess.run(["debootstrap", "--variant=minbase", "bookworm", str(base), *[debian] * bool(debian)], check=True)
    (base / "etc/hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {socket.gethostname()}\n")
    (base / "etc/apt/apt.conf.d/90yes").write_text('APT::Get::Assume-Yes "true";\n')
    if over:
        shutil.copytree(over, base, dirs_exist_ok=True)
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(base) + CLONE], check=True)
    room = Room(base, None)
    room.run("apt-get update --quiet=2 && apt-get install --quiet=2 --no-install-recommends ca-certificates git make")
    room.run(f"cd {CLONE} && make ros")
    (base / "made").touch()


def follow(stack: Stack, room: Room, mirror: Path | None) -> list[str]:
    """Build a stack and start the graph with it; return the faults."""
    lines, packages = row(stack)
    if not (room.folder / "upper" / "built").exists():
        if mirror:
            room.run("git config --global url.file:///mirror/.insteadOf https://github.com/")
        room.run(f"apt-get install --quiet=2 --no-install-recommends vcstool {' '.join(packages)}")
        for block in commands(*stack.before) if stack.before else ():
            room.run(f"cd {CLONE}\n{block}")
        (room.folder / "upper" / "root" / "agora").mkdir(parents=True, exist_ok=True)
        room.run(f"cat > {CLONE}/.rosinstall <<'END'\n{kept(lines)}END")
        for block in commands(*BUILDING):
            room.run(f"cd {CLONE}\n{block}")
        room.run("touch /built")
    faults = []
    for line in starts(stack):
        if fault := room.drives(f"bash -c {shlex.quote(f'{SETUP} && {line} headless:=2')}"):
            faults.append(f"{stack.wanted}: {fault}: {line}")
    return faults


def main() -> None:
    """Follow the pages of the stacks that are named, or of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("stacks", nargs="*", metavar="NAME", help=", ".join(STACKS))
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "upstreams", help="where the roots are")
    parser.add_argument("--mirror", type=Path, help="folder of repositories OWNER/NAME.git that stand in for GitHub")
    parser.add_argument("--debian", default="", help="mirror of Debian for debootstrap")
    parser.add_argument("--over", type=Path, help="folder whose files are laid over the empty root: pip.conf, certificates")
    given = parser.parse_args()
    if unknown := set(given.stacks) - set(STACKS):
        parser.error(f"unknown {sorted(unknown)}; there are {', '.join(STACKS)}")
    if os.geteuid() or not shutil.which("debootstrap"):
        parser.error("this needs root and debootstrap")
    make_base(given.folder / "base", given.debian, given.over)
    faults = []
    for name in given.stacks or STACKS:
        faults += follow(STACKS[name], Room(given.folder / name, given.mirror), given.mirror)
    sys.exit("\n".join(faults) or None)


if __name__ == "__main__":
    main()
