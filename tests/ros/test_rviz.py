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
from agora_ros.conversions import from_episode, from_pose, to_pose
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import OccupancyGrid
from PIL import ImageGrab
from rosgraph_msgs.msg import Clock
from rospy import Time

from agora.core.recording import Outcome
from agora_msgs.msg import Episode, EpisodeStatus, Robot, Robots

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


NODES = {
    "agora_simulators": "simulator",
    "agora_pedsim": "pedsim_simulator",
    "agora_navigation": "navigation",
    "agora_map_generator": "map_generator",
}


def test_a_goal_told_by_topic_is_drawn_and_the_robot_of_a_whole_graph_drives_where_the_mouse_clicks(
    graph, launch_node, screen, wait_until, monkeypatch
):
    monkeypatch.setitem(graph.master.env, "DISPLAY", screen("printenv", "DISPLAY"))
    for name, value in DRAWING.items():
        monkeypatch.setitem(graph.master.env, name, value)
    say = graph.publisher("task_generator_server/episode", Episode, latch=True, listeners=0)
    say.publish(Episode(number=1, robots=[Robot(name="burger", model="burger")]))
    grid = OccupancyGrid(data=[100] * 200 * 300)
    grid.header.frame_id, grid.info.resolution, grid.info.width, grid.info.height = "map", 0.1, 300, 200
    drawn = graph.publisher("map", OccupancyGrid, latch=True, listeners=0)
    drawn.publish(grid)
    clock = graph.publisher("/clock", Clock, latch=True, listeners=0)
    clock.publish(Time(1.0))
    node = tried(lambda node: tell_goals(graph, node, screen, wait_until), launch_node)
    for publisher in (say, drawn, clock):
        publisher.unregister()
    for name, value in {"tm_obstacles": "none", "map_file": "hall", "model": "burger", "seed": 3, "timeout": 900.0}.items():
        graph.param(name, value)
    for package, name in NODES.items():
        launch_node(package, name, f"{name}_node" if name in ("simulator", "navigation") else name)
    launch_node("agora_task_generator", "task_generator_server", patience=300.0)
    tried(lambda node: click_and_drive(graph, node, screen, wait_until), launch_node, node)


def tried(work, launch_node, node=None):
    """Do something with RViz, which is started where it is not; return its node."""
    for left in reversed(range(ATTEMPTS)):
        node = node or launch_node("agora_bringup", "show", name="rviz")
        try:
            work(node)
            break
        except (pytest.fail.Exception, OSError):
            if not left:
                raise
            node.kill()
            node = None
    return node


def window_of(node, screen, wait_until):
    window = wait_until(lambda: screen("xdotool", "search", "--name", "RViz$"), f"the window of RViz\n{node.log}").split()[-1]
    screen("xdotool", "windowactivate", "--sync", window, "windowsize", "--sync", window, "1400", "900")
    return window


class Mouse:
    """Drags goals upwards in a window of RViz."""

    def __init__(self, graph, screen, window, wait_until):
        self.screen, self.window, self.wait_until = screen, window, wait_until
        self.goals = graph.hear("move_base_simple/goal", PoseStamped)  # now: RViz has by turns offered and withdrawn it before
        graph.heard_from("rviz", "move_base_simple/goal")

    def drag(self, column, row):
        """The goal (3,) that comes of a drag from a pixel upwards; on a busy machine a picture takes longer than a hand."""
        before, pauses = len(self.goals), itertools.chain((0.2, 0.4, 0.8), itertools.repeat(1.5))

        def once():
            pause = str(next(pauses))
            self.screen("xdotool", "windowactivate", "--sync", self.window, "key", "g", "sleep", pause)
            start, middle, end = (f"{round(column)} {round(row - up)}" for up in (0, 60, 100))
            for moves in (f"{start} sleep {pause} mousedown 1", middle, f"{end} sleep {pause} mouseup 1"):
                self.screen("xdotool", "mousemove", *moves.split(), "sleep", pause)
            if keep := os.environ.get("AGORA_SCREENSHOTS"):
                picture(self.screen, Path(keep) / "rviz.png")
            return len(self.goals) > before

        self.wait_until(once, "a goal that was dragged upwards", PATIENCE)
        assert self.goals[-1].header.frame_id == "map"
        return from_pose(self.goals[-1].pose)


def tell_goals(graph, node, screen, wait_until):
    window = window_of(node, screen, wait_until)
    black = lambda: (picture(screen)[200:700, 600:1300].max(-1) < 30).mean()  # noqa: E731
    wait_until(lambda: black() > 0.2, "the map, which is black, to be drawn")
    assert Mouse(graph, screen, window, wait_until).drag(900, 500)[2] == pytest.approx(math.pi / 2, abs=0.05)

    def blue():
        red, green, strong = np.moveaxis(picture(screen)[130:, 400:], -1, 0)
        return np.argwhere((strong > 90) & (red < strong / 3) & (green < 0.8 * strong))

    assert len(blue()) == 0
    told = graph.publisher("burger/move_base_simple/goal", PoseStamped)
    try:
        drawn = [
            tell_and_see(told, *place, blue, wait_until) for place in ((9.0, 6.0), (21.0, 14.0))
        ]  # in map: low left, high right
    finally:
        told.unregister()
    lower, higher = drawn
    assert lower[0] - higher[0] > 100 and higher[1] - lower[1] > 100  # pixels, rows from above


def click_and_drive(graph, node, screen, wait_until):
    """Click beside the robot; the status says that goal, and the robot reaches it."""
    window = window_of(node, screen, wait_until)
    statuses, seen = graph.hear("simulator/status", EpisodeStatus), graph.hear("simulator/robots", Robots)
    seen.wait(1, 240)
    mouse = Mouse(graph, screen, window, wait_until)
    one, other = mouse.drag(800, 500), mouse.drag(1000, 500)
    scale = 200.0 / (other[0] - one[0])  # pixels per metre
    robot, place = seen[-1], from_episode(graph.hear("task_generator_server/episode", Episode).wait(1)[-1])[0].map
    steps = [np.array([math.cos(turn), math.sin(turn)]) for turn in np.arange(0.0, math.tau, 0.3)]
    aims = [np.array([robot.x[0], robot.y[0]]) + 1.6 * step for step in steps]
    aim = next(aim for aim in aims if place.contains(aim) and place.clearance_at(aim) > 0.5)
    goal = mouse.drag(800 + scale * (aim[0] - one[0]), 500 - scale * (aim[1] - one[1]))
    assert math.dist(goal[:2], aim) < 0.2
    told = statuses.wait_for(lambda s: s.robots and near(s.robots[0], goal), f"the clicked goal in the status\n{node.log}")
    end = statuses.wait_for(lambda s: s.number == told.number and s.robots[0].ended, "the end of the drive")
    assert end.robots[0].outcome == Outcome.REACHED and near(end.robots[0], goal)


def near(robot, goal) -> bool:
    return bool(robot.by_hand and math.dist((robot.target.x, robot.target.y), goal[:2]) < 1e-3)


def tell_and_see(told, x, y, arrow, wait_until) -> np.ndarray:
    """Tell a goal; where its arrow is drawn, (row, column)."""
    goal = PoseStamped(pose=to_pose((x, y, 0.5)))
    goal.header.frame_id = "map"
    before = arrow()
    told.publish(goal)
    wait_until(lambda: len(now := arrow()) > 20 and not np.array_equal(now, before), "the arrow of the goal")
    return arrow().mean(0)
