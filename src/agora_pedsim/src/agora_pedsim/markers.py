"""The crowd in RViz: a body, a nose and a word for everybody, lines of groups, waypoints."""

from __future__ import annotations

import colorsys

import numpy as np
import rospy
from agora_ros.conversions import quaternion
from geometry_msgs.msg import Point, Pose, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from agora.core.state import SOCIAL_STATES
from agora.simulators.arena import STATE_NAMES
from agora.simulators.crowd import Crowd
from agora_pedsim.messages import agent_ids

_HEIGHT = 1.7
_LETTERS = 0.32  # m
_WORD = ColorRGBA(0.78, 0.33, 0.0, 1.0)  # contrast 4.5 to 1 with a white floor and with black walls
_GREY = ColorRGBA(0.45, 0.45, 0.5, 0.7)
_CALM = {"idle": (0.55, 0.55, 0.6), "walking": (0.16, 0.47, 0.85)}
_KEPT = rospy.Duration(1.0)


def _colours() -> list[ColorRGBA]:
    """One for each social state: grey who stands, blue who walks, the others round the colour circle."""
    others = [name for name in SOCIAL_STATES if name not in _CALM]
    turned = {name: colorsys.hsv_to_rgb(k / len(others), 0.75, 0.9) for k, name in enumerate(others)}
    return [ColorRGBA(*(_CALM | turned)[name], 0.9) for name in SOCIAL_STATES]


_COLOURS = _colours()


def cleared() -> MarkerArray:
    """A message that takes everything away."""
    return MarkerArray([Marker(action=Marker.DELETEALL)])


def markers(crowd: Crowd, header: Header) -> MarkerArray:
    """Everybody who is present."""
    now, traits, states, ids = crowd.pedestrians, crowd.traits, crowd.minds.state[0], agent_ids(crowd)
    drawn = []
    for k in crowd.slots.tolist():
        x, y, radius, heading = (float(v) for v in (now.x[0, k], now.y[0, k], traits.radius[0, k], now.heading[0, k]))
        colour = _COLOURS[states[k]]
        body = _marker(header, "pedestrians", k, Marker.CYLINDER, (2 * radius, 2 * radius, _HEIGHT), colour)
        body.pose = Pose(Point(x, y, _HEIGHT / 2), quaternion(heading))
        nose = _marker(header, "headings", k, Marker.ARROW, (1.4 * radius, 0.1, 0.1), ColorRGBA(0.1, 0.1, 0.1, 1.0))
        nose.pose = Pose(
            Point(x + radius * float(np.cos(heading)), y + radius * float(np.sin(heading)), _HEIGHT), quaternion(heading)
        )
        word = _marker(header, "states", k, Marker.TEXT_VIEW_FACING, (0.0, 0.0, _LETTERS), _WORD)
        above = Point(x, y + radius + 1.2 * _LETTERS, _HEIGHT + 1.2 * _LETTERS)  # clear of the body, from above and from the side
        word.pose, word.text = Pose(above, quaternion(0.0)), f"{ids[k]}\n{STATE_NAMES[states[k]]}"
        drawn += [body, nose, word]
    lines = (_groups(crowd, header), _waypoints(crowd, header))
    return MarkerArray([*drawn, *(each for each in lines if each.points)])  # RViz calls a marker without lines an error


def _marker(header: Header, kind: str, number: int, shape: int, scale: tuple[float, float, float], colour: ColorRGBA) -> Marker:
    marker = Marker(header=header, ns=kind, id=number, type=shape, action=Marker.ADD, color=colour, lifetime=_KEPT)
    marker.scale = Vector3(*scale)
    marker.pose.orientation.w = 1.0
    return marker


def _groups(crowd: Crowd, header: Header) -> Marker:
    """Lines from the members of each group to its middle."""
    lines = _marker(header, "groups", 0, Marker.LINE_LIST, (0.06, 0.0, 0.0), ColorRGBA(0.95, 0.6, 0.1, 0.9))
    there, now = crowd.slots, crowd.pedestrians
    groups = crowd.traits.group[0, there]
    for number in np.unique(groups[groups >= 0]):
        members = there[groups == number]
        places = np.stack([now.x[0, members], now.y[0, members]], -1).astype(float)
        middle = Point(*places.mean(0).tolist(), 0.05)
        for x, y in places.tolist():
            lines.points += [Point(x, y, 0.05), middle]
    return lines


def _waypoints(crowd: Crowd, header: Header) -> Marker:
    """A line on the floor from everybody to the waypoint that is next."""
    lines = _marker(header, "waypoints", 0, Marker.LINE_LIST, (0.02, 0.0, 0.0), _GREY)
    now, goals = crowd.pedestrians, crowd.world.waypoints
    for k in crowd.slots.tolist():
        lines.points += [
            Point(float(now.x[0, k]), float(now.y[0, k]), 0.02),
            Point(float(goals.x[0, k]), float(goals.y[0, k]), 0.02),
        ]
    return lines
