"""Shows the crowd in RViz: each pedestrian as a body of simple shapes on its contact disc, with a name, and lines for groups and
waypoints.

A body consists of torso, legs, head and nose, and is as wide as the disc. Sitting pedestrians are lower and have thighs;
pedestrians that phone or text have an arm and a phone. Colours are the same as in the library's pictures (`agora.viewer.scene`),
one for each family of social states.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import rospy
from agora_ros.conversions import quaternion
from geometry_msgs.msg import Point, Pose, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from agora.core.state import SOCIAL_STATES
from agora.node_logic.arena import STATE_NAMES
from agora.node_logic.crowd import Crowd
from agora.viewer.scene import COLOURS, FAMILIES, STATES
from agora_pedsim.messages import agent_ids

_HEIGHT = 1.7  # m, height of a standing pedestrian
_LETTERS = 0.28  # m
_CALM = ("idle", "walking")  # states that are visible without a label
_KEPT = rospy.Duration(1.0)


def _colour(code: str, alpha: float = 1.0) -> ColorRGBA:
    """Return the colour message for a code #rrggbb."""
    return ColorRGBA(*(int(code[k : k + 2], 16) / 255 for k in (1, 3, 5)), alpha)


_WORD, _GREY = _colour("#8A3F00"), _colour(COLOURS["faint"], 0.7)
_SKIN, _TROUSERS, _PHONE = _colour("#F2C9A0"), _colour("#3A3F47"), _colour("#101010")
_CLOTHES = [_colour(FAMILIES[STATES[name][0]]) for name in SOCIAL_STATES]
_DISCS = [_colour(FAMILIES[STATES[name][0]], 0.25) for name in SOCIAL_STATES]


class _Part(NamedTuple):
    """One shape of a body. The horizontal coordinates of its centre (ahead and to the left) and of its size are multiples of the
    disc's radius; heights are in m.

    If ``colour`` is None, the colour of the pedestrian's clothes is used.
    """

    shape: int
    ahead: float
    left: float
    height: float
    size: tuple[float, float, float]
    colour: ColorRGBA | None = None


def _upright(seat: float) -> tuple[_Part, ...]:
    """Return the torso, head and nose above hips at the height ``seat``, m."""
    return (
        _Part(Marker.CYLINDER, 0.0, 0.0, seat + 0.3, (1.0, 1.75, 0.6)),
        _Part(Marker.SPHERE, 0.05, 0.0, seat + 0.72, (0.75, 0.7, 0.25), _SKIN),
        _Part(Marker.SPHERE, 0.5, 0.0, seat + 0.72, (0.4, 0.2, 0.08), _SKIN),
    )


_LEGS = _Part(Marker.CYLINDER, 0.0, 0.0, 0.43, (0.7, 1.3, 0.86), _TROUSERS)
_THIGHS = _Part(Marker.CUBE, 0.5, 0.0, 0.45, (1.0, 1.2, 0.16), _TROUSERS)
_STANDING = (_LEGS, *_upright(0.85))
_TELEPHONING = (
    *_STANDING,
    _Part(Marker.CUBE, 0.4, -0.72, 1.4, (0.9, 0.28, 0.1)),
    _Part(Marker.CUBE, 0.85, -0.6, 1.5, (0.2, 0.3, 0.16), _PHONE),
)
_SITTING = (_THIGHS, *_upright(0.45))
_BODIES = {"sitting": _SITTING, "phone": _TELEPHONING, "texting": _TELEPHONING}


def cleared() -> MarkerArray:
    """Return the message that deletes all markers."""
    return MarkerArray([Marker(action=Marker.DELETEALL)])


def markers(crowd: Crowd, header: Header) -> MarkerArray:
    """Return the markers of all pedestrians that are present."""
    now, traits, states, ids = crowd.pedestrians, crowd.traits, crowd.minds.state[0], agent_ids(crowd)
    drawn: list[Marker] = []
    for k in crowd.slots.tolist():
        x, y, radius, heading = (float(v) for v in (now.x[0, k], now.y[0, k], traits.radius[0, k], now.heading[0, k]))
        drawn += _person(header, k, int(states[k]), Pose(Point(x, y, 0.0), quaternion(heading)), heading, radius)
        name = _marker(header, "names", k, Marker.TEXT_VIEW_FACING, (0.0, 0.0, _LETTERS), _WORD)
        above = Point(x, y + radius + _LETTERS, _HEIGHT + 1.2 * _LETTERS)  # clear of the body, from above and from the side
        word = "" if SOCIAL_STATES[states[k]] in _CALM else f"\n{STATE_NAMES[states[k]]}"
        name.pose, name.text = Pose(above, quaternion(0.0)), f"{ids[k]}{word}"
        drawn.append(name)
    lines = (_groups(crowd, header), _waypoints(crowd, header))
    return MarkerArray([*drawn, *(each for each in lines if each.points)])  # RViz reports a marker without lines as an error


def _person(header: Header, k: int, state: int, place: Pose, heading: float, radius: float) -> Iterator[Marker]:
    """Yield the disc of a pedestrian and the body on it; the markers of each pedestrian have unique numbers."""
    c, s, centre = math.cos(heading), math.sin(heading), place.position
    disc = _marker(header, "discs", k, Marker.CYLINDER, (2 * radius, 2 * radius, 0.02), _DISCS[state])
    disc.pose = Pose(Point(centre.x, centre.y, 0.01), place.orientation)
    yield disc
    parts = _BODIES.get(SOCIAL_STATES[state], _STANDING)
    for n, part in enumerate(parts):
        along, across, tall = part.size
        size = (along * radius, across * radius, tall)
        drawn = _marker(header, "people", len(_TELEPHONING) * k + n, part.shape, size, part.colour or _CLOTHES[state])
        ahead, left = part.ahead * radius, part.left * radius
        drawn.pose = Pose(Point(centre.x + c * ahead - s * left, centre.y + s * ahead + c * left, part.height), place.orientation)
        yield drawn


def _marker(header: Header, kind: str, number: int, shape: int, scale: tuple[float, float, float], colour: ColorRGBA) -> Marker:
    marker = Marker(header=header, ns=kind, id=number, type=shape, action=Marker.ADD, color=colour, lifetime=_KEPT)
    marker.scale = Vector3(*scale)
    marker.pose.orientation.w = 1.0
    return marker


def _groups(crowd: Crowd, header: Header) -> Marker:
    """Return lines from the members of each group to its centre."""
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
    """Return lines on the floor from each pedestrian to its next waypoint."""
    lines = _marker(header, "waypoints", 0, Marker.LINE_LIST, (0.02, 0.0, 0.0), _GREY)
    now, goals = crowd.pedestrians, crowd.world.waypoints
    for k in crowd.slots.tolist():
        lines.points += [
            Point(float(now.x[0, k]), float(now.y[0, k]), 0.02),
            Point(float(goals.x[0, k]), float(goals.y[0, k]), 0.02),
        ]
    return lines
