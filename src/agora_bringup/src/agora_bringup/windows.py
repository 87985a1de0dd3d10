"""Starts RViz with a configuration for the robots in the episode.

A configuration is an RViz file. Display groups named ``ROBOT`` are repeated for each robot in the episode. ``ROBOT`` is replaced
with a robot's name: inside a group, the name of the group's robot; elsewhere in the file, the name of the first robot. ``COLOUR``
is replaced with the robot's colour in RViz's notation. An image display shows the first robot that has a camera, and is left out if
no robot has one.

Topics are relative to this node's namespace. The top-down view shows the whole map. If names would be too small to read in this
view, they are hidden until the user ticks their box. Once the file is written, this process becomes RViz.
"""

from __future__ import annotations

import copy
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import rospkg
import rospy
import yaml
from agora_ros.conversions import from_episode, model_of
from agora_ros.names import ros_name

from agora.errors import InputError, UnknownNameError
from agora.maps.grid import Map
from agora_msgs.msg import Episode, Robot

ROBOT, COLOUR = "ROBOT", "COLOUR"
PALETTE = ("#0072B2", "#009E73", "#8C510A", "#B5006B", "#56B4E9", "#5B7F00")
"""Colours assigned to the robots in turn; they differ from the colours of pedestrians and scans."""
_WINDOW = (980, 780)  # pixels for the map, in the window of nav.rviz
_LEGIBLE = 35.0  # pixels per metre from which names of pedestrians are shown: letters are then 10 pixels high
_PATIENCE = (
    600.0  # s of wall time to wait for the first episode, which kernel compilation may delay; then ``model`` names the robot
)


def configuration(name: str) -> Path:
    """Return the RViz file with a given name in ``agora_bringup/rviz``, or at a given path.

    Raises:
        InputError: there is no such file.
    """
    if "/" in name:
        if not Path(name).expanduser().is_file():
            raise InputError(f"rviz_file: there is no file {name}")
        return Path(name).expanduser()
    folder = Path(rospkg.RosPack().get_path("agora_bringup")) / "rviz"
    known = {path.stem: path for path in folder.glob("*.rviz")}
    if name.removesuffix(".rviz") not in known:
        raise UnknownNameError("rviz_file", name, known)
    return known[name.removesuffix(".rviz")]


def colour_of(number: int) -> tuple[float, float, float]:
    """Return the colour of a robot: red, green and blue in [0, 1]."""
    code = PALETTE[number % len(PALETTE)]
    red, green, blue = (int(code[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return red, green, blue


def view_scale(place: Map) -> float:
    """Return the scale, in pixels per metre, at which the whole map fits in the window."""
    width, height = place.size
    return float(min(_WINDOW[0] / width, _WINDOW[1] / height))


def filled(text: str, episode: Episode) -> str:
    """Return an RViz file for the robots in an episode, with a top-down view of the whole map."""
    robots = [_words(robot.name, number) for number, robot in enumerate(episode.robots)]
    tree = yaml.safe_load(text)
    displays = []
    for display in tree["Visualization Manager"]["Displays"]:
        each = robots if display.get("Name") == ROBOT else robots[:1]
        if display["Class"] == "rviz/Image":
            sees = [robot.model and model_of(robot.model).camera is not None for robot in episode.robots]
            each = [words for words, one in zip(robots, sees, strict=True) if one][:1]
        displays += [_renamed(display, words) for words in each]
    tree["Visualization Manager"]["Displays"] = displays
    view = tree["Visualization Manager"]["Views"]["Current"]
    if view["Class"] == "rviz/TopDownOrtho" and episode.resolved:
        place = from_episode(episode)[0].map
        width, height = place.size
        view["X"], view["Y"] = place.origin[0] + width / 2, place.origin[1] + height / 2
        view["Scale"] = view_scale(place)
        for display in displays:
            if "names" in (shown := display.get("Namespaces") or {}):
                shown["names"] = shown["names"] and view["Scale"] >= _LEGIBLE
    return str(yaml.safe_dump(_renamed(tree, robots[0]), sort_keys=False))


def _words(robot: str, number: int) -> dict[str, str]:
    """Return the replacements for the placeholders in a robot's displays."""
    return {ROBOT: robot, COLOUR: "; ".join(str(round(255 * share)) for share in colour_of(number))}


def _renamed(value: Any, words: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(item, words) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, words) for item in value]
    if not isinstance(value, str):
        return copy.copy(value)
    for word, meant in words.items():
        value = value.replace(word, meant)
    return value


def first_episode() -> Episode:
    """Return the first episode; if none arrives, an episode with the robot given by the ``model`` parameter."""
    rospy.loginfo("RViz will open with the first episode")
    try:
        return rospy.wait_for_message("task_generator_server/episode", Episode, _PATIENCE)
    except rospy.ROSException:
        rospy.logwarn(f"no episode has started in {_PATIENCE:g} s: RViz is set up for the parameter model")
        return Episode(robots=[Robot(name=ros_name(str(rospy.get_param("model", "") or "jackal")))])


def show() -> None:
    """Replace this process with RViz, or report in one line why that is not possible."""
    program = shutil.which("rviz")
    if program is None:
        rospy.logerr("rviz is not installed: install it (apt install rviz), or use headless:=2")
        return
    if not os.environ.get("DISPLAY"):
        rospy.logerr("no window: DISPLAY is not set; use headless:=2, or start on a machine with a display")
        return
    try:
        text = configuration(str(rospy.get_param("~config", "") or "nav")).read_text()
        with tempfile.NamedTemporaryFile("w", suffix=".rviz", prefix="agora_", delete=False) as written:
            written.write(filled(text, first_episode()) if ROBOT in text else text)
    except (InputError, yaml.YAMLError) as error:
        rospy.logerr(f"cannot open RViz: {error}")
        return
    rospy.signal_shutdown("RViz takes over this node name")
    os.execv(program, [program, "--display-config", written.name, *sys.argv[1:]])
