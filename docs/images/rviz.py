"""Draws rviz.png, rviz_side.png and rviz_camera.png: ``python docs/images/rviz.py [NAME ...]``, with the workspace sourced.

Each picture shows RViz on an Xvfb screen, with a graph started by ``roslaunch``. xdotool is also required.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from PIL import Image, ImageGrab

from agora.share import folder

HERE = Path(__file__).resolve().parent
CONFIGURATION = folder("configs").parent / "src/agora_bringup/rviz/nav.rviz"
DRAWING = {"LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": "softpipe", "DRAW_USE_LLVM": "0"}
MASTER = "http://127.0.0.1:11388"
SETTLES = 5.0  # s until RViz has drawn the paused episode


@dataclass(frozen=True)
class Picture:
    """A picture of RViz.

    Attributes:
        arguments: arguments of ``start_arena.launch``.
        seconds: time from the beginning of the second episode to the picture, s; RViz opens during the first one.
        view: saved view in the configuration; if empty, the top-down view.
        part: left, upper, right and lower edge of the part of the window to keep, px; if empty, the whole window.
        width: width in the manual, px.
    """

    arguments: str
    seconds: float
    view: str = ""
    part: tuple[int, int, int, int] | None = None
    width: int = 1400


HOSPITAL = "map_file:=hospital behaviours:=social_states,groups tm_obstacles:=groups(dynamic=[12,12],standing_groups=[2,2])"
PICTURES = {
    "rviz": Picture(f"{HOSPITAL} robot_setup_file:=three seed:=7", 3.0),
    "rviz_side": Picture(f"{HOSPITAL} model:=jackal seed:=7", 3.0, "From the side", (374, 62, 1382, 862), 700),
    "rviz_camera": Picture("simulator:=mujoco model:=jackal_rgbd map_file:=hall seed:=3", 5.0, width=1120),
}


@contextmanager
def screen(home: Path) -> Iterator[dict[str, str]]:
    """Start a screen without a window manager; yield the environment for programs on it."""
    read, write = os.pipe()
    size = ["-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), *size], pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    env = os.environ | DRAWING | {"DISPLAY": f":{number}", "XDG_CONFIG_HOME": str(home), "ROS_MASTER_URI": MASTER}
    try:
        yield env
    finally:
        server.terminate()
        server.wait()


def configuration(view: str, home: Path) -> Path:
    """Return a copy of the configuration that opens with one of its saved views."""
    tree = yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))
    views = tree["Visualization Manager"]["Views"]
    views["Current"] = next((one for one in views["Saved"] if one["Name"] == view), views["Current"])
    (home / "picture.rviz").write_text(yaml.safe_dump(tree, sort_keys=False), encoding="utf-8")
    return home / "picture.rviz"


def draw(name: str) -> None:
    """Start the graph, let its second episode run for a while, pause it, and take the picture."""
    made = PICTURES[name]
    with tempfile.TemporaryDirectory() as home, screen(Path(home)) as env:
        shown = configuration(made.view, Path(home))
        command = f"roslaunch -p {MASTER.rpartition(':')[2]} agora_bringup start_arena.launch rviz_file:={shown} {made.arguments}"
        graph = subprocess.Popen(command.split(), env=env)
        try:
            window = _find(env)
            for service, seconds in (("/reset_task", made.seconds), ("/simulator/pause", SETTLES)):
                subprocess.run(["rosservice", "call", service], env=env, check=True, stdout=subprocess.DEVNULL)
                threading.Event().wait(seconds)
            image = ImageGrab.grab(_place(window, env), xdisplay=env["DISPLAY"])
        finally:
            graph.send_signal(signal.SIGINT)
            graph.wait()
    kept = image.crop(made.part) if made.part else image
    small = kept.resize((made.width, round(kept.height * made.width / kept.width)), Image.Resampling.LANCZOS)
    small.save(HERE / f"{name}.png", optimize=True)


def _find(env: dict[str, str]) -> str:
    """Return the number of RViz's window, once it exists."""
    search = ["xdotool", "search", "--sync", "--onlyvisible", "--name", " - RViz$"]
    return subprocess.run(search, env=env, check=True, capture_output=True, text=True).stdout.split()[-1]


def _place(window: str, env: dict[str, str]) -> tuple[int, int, int, int]:
    """Return the left, upper, right and lower edge of a window, px."""
    asked = ["xdotool", "getwindowgeometry", "--shell", window]
    said = subprocess.run(asked, env=env, check=True, capture_output=True, text=True).stdout
    told = dict(line.split("=") for line in said.splitlines())
    x, y, width, height = (int(told[name]) for name in ("X", "Y", "WIDTH", "HEIGHT"))
    return x, y, x + width, y + height


if __name__ == "__main__":
    for picture in sys.argv[1:] or PICTURES:
        draw(picture)
