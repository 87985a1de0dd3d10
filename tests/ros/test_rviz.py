"""RViz on a screen that nobody sees: what is dragged with the mouse arrives as a goal, and what is told is drawn."""

from __future__ import annotations

import itertools
import math
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from agora_ros.conversions import heading_of, to_pose
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import OccupancyGrid
from PIL import ImageGrab
from rosgraph_msgs.msg import Clock
from rospy import Time

from agora_msgs.msg import Episode, Robot

PROGRAMS = ("Xvfb", "openbox", "xdotool", "rviz")
WIDTH, HEIGHT = 1500, 960


def missing():
    return [name for name in PROGRAMS if not shutil.which(name)]


pytestmark = pytest.mark.skipif(bool(missing()) and os.environ.get("CI") != "true", reason=f"needs {', '.join(PROGRAMS)}")


@pytest.fixture
def screen(tmp_path, wait_until):
    """A display with a window manager; what is called there sees it as its screen."""
    read, write = os.pipe()
    size = f"{WIDTH}x{HEIGHT}x24"
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp"], pass_fds=[write], stderr=subprocess.DEVNULL
    )
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    env = dict(os.environ, DISPLAY=f":{number}", HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path))
    manager = subprocess.Popen(["openbox"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield lambda *command: subprocess.run(command, env=env, capture_output=True, text=True, check=False).stdout.strip()
    for process in (manager, server):
        process.terminate()
        process.wait(10)


def picture(screen, path: Path | None = None) -> np.ndarray:
    """Return the picture on the screen (H, W, 3)."""
    image = ImageGrab.grab(xdisplay=screen("printenv", "DISPLAY"))
    if path:
        image.save(path)
    return np.asarray(image.convert("RGB")).astype(int)


DRAWING = {"LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": "softpipe", "DRAW_USE_LLVM": "0"}
"""Mesa draws without LLVM, inside which RViz dies or stands still now and then."""
ATTEMPTS, PATIENCE = 5, 50.0
"""Where RViz dies all the same, or nothing comes of it for so many seconds, it is started again."""


def test_a_goal_dragged_in_rviz_arrives_and_one_that_is_told_by_topic_is_drawn_on_the_map(
    graph, launch_node, screen, wait_until, monkeypatch
):
    monkeypatch.setitem(graph.master.env, "DISPLAY", screen("printenv", "DISPLAY"))
    for name, value in DRAWING.items():
        monkeypatch.setitem(graph.master.env, name, value)
    say = graph.publisher("task_generator_server/episode", Episode, latch=True, listeners=0)
    say.publish(Episode(number=1, robots=[Robot(name="burger", model="burger")]))
    grid = OccupancyGrid(data=[100] * 200 * 300)
    grid.header.frame_id, grid.info.resolution, grid.info.width, grid.info.height = "map", 0.1, 300, 200
    graph.publisher("map", OccupancyGrid, latch=True, listeners=0).publish(grid)
    graph.publisher("/clock", Clock, latch=True, listeners=0).publish(Time(1.0))
    for attempt in range(1, ATTEMPTS + 1):
        node = launch_node("agora_bringup", "show", name="rviz")
        try:
            drag_and_tell(graph, node, screen, wait_until)
            return
        except (pytest.fail.Exception, OSError):
            if attempt == ATTEMPTS:
                raise
            node.kill()


def drag_and_tell(graph, node, screen, wait_until):
    window = wait_until(lambda: screen("xdotool", "search", "--name", "RViz$"), f"the window of RViz\n{node.log}").split()[-1]
    screen("xdotool", "windowactivate", "--sync", window, "windowsize", "--sync", window, "1400", "900")
    black = lambda: (picture(screen)[200:700, 600:1300].max(-1) < 30).mean()  # noqa: E731
    wait_until(lambda: black() > 0.2, "the map, which is black, to be drawn")
    goals = graph.hear("move_base_simple/goal", PoseStamped)  # now: RViz has by turns offered and withdrawn it while it opened
    graph.heard_from("rviz", "move_base_simple/goal")

    pauses = itertools.chain((0.2, 0.4, 0.8), itertools.repeat(1.5))  # on a busy machine a picture takes longer than a hand

    def drag():
        pause = str(next(pauses))
        screen("xdotool", "windowactivate", "--sync", window, "key", "g", "sleep", pause)
        for moves in ("900 500 sleep {} mousedown 1", "900 440", "900 400 sleep {} mouseup 1"):
            screen("xdotool", "mousemove", *moves.format(pause).split(), "sleep", pause)
        if keep := os.environ.get("AGORA_SCREENSHOTS"):
            picture(screen, Path(keep) / "rviz.png")
        return len(goals)

    wait_until(drag, "a goal that was dragged upwards", PATIENCE)
    assert goals[0].header.frame_id == "map"
    assert heading_of(goals[0].pose.orientation) == pytest.approx(math.pi / 2, abs=0.05)

    def green():
        red, strong, blue = np.moveaxis(picture(screen)[130:, 400:], -1, 0)
        return np.argwhere((strong > 90) & (red < strong / 2) & (blue < 0.7 * strong))

    assert len(green()) == 0
    told = graph.publisher("burger/move_base_simple/goal", PoseStamped)
    try:
        drawn = [
            tell_and_see(told, *place, green, wait_until) for place in ((9.0, 6.0), (21.0, 14.0))
        ]  # in map: low left, high right
    finally:
        told.unregister()
    lower, higher = drawn
    assert lower[0] - higher[0] > 100 and higher[1] - lower[1] > 100  # pixels, rows from above


def tell_and_see(told, x, y, green, wait_until) -> np.ndarray:
    """Tell a goal; where its arrow is drawn, (row, column)."""
    goal = PoseStamped(pose=to_pose((x, y, 0.5)))
    goal.header.frame_id = "map"
    before = green()
    told.publish(goal)
    wait_until(lambda: len(now := green()) > 20 and not np.array_equal(now, before), "the arrow of the goal")
    return green().mean(0)
