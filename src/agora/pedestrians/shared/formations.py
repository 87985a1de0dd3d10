"""The places at which the members of a group stand or walk: F-formations and rows.

F-formations: A. Kendon, Conducting Interaction, 1990: people who talk stand around a common space, the o-space, and face it. Two
people stand face to face, at a right angle, or side by side; more people stand in a ring. Rows: M. Moussaid et al., "The walking
behaviour of pedestrian social groups and its impact on crowd dynamics", PLoS ONE 5(4), 2010: pairs walk abreast, and larger groups
bend the row forwards into a V; F. Zanlungo, T. Kanda, "Do walking pedestrians stably interact inside a large group?", CogSci 2013:
still larger groups break up into rows of a few. The lengths are our choices.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from agora.core.jit import device, lean
from agora.core.scalar import HALF, ONE
from agora.core.state import Doubles
from agora.errors import InputError, nearest

__all__ = ["formation"]

Kind = Literal["circle", "face_to_face", "right_angle", "side_by_side"]

KINDS: dict[Kind, float] = {"face_to_face": math.pi, "right_angle": math.pi / 2, "side_by_side": math.radians(50.0)}
"""Formations of two people, and the angle between the two as seen from the centre of the o-space; ``circle`` is for any number."""

RADIUS = 0.75
"""Distance from the centre of the o-space to the members of small formations, m."""

BETWEEN = 0.9
"""Distance between neighbours in a larger ring, m."""

_RADIUS, _HALF_BETWEEN, _PI = np.float32(RADIUS), np.float32(BETWEEN / 2), np.float32(math.pi)


@device
def o_space_radius(count):
    """Return the distance from the centre of the o-space to each of ``count`` members, m, float32."""
    if count < 4:
        return _RADIUS
    return max(_RADIUS, _HALF_BETWEEN / np.float32(math.sin(_PI / np.float32(count))))


@lean
def row_place(number, count, abreast, spacing, bend, gap):
    """Return the place of member ``number`` of ``count``, counted from the right, as metres ahead and to the left of the middle of
    the front row.

    A row has at most ``abreast`` members; rows follow each other at a distance of ``gap`` metres. In a row, members are ``spacing``
    metres apart, and each member is ``bend`` metres farther ahead per metre of distance from the row's middle.
    """
    rows = (count + abreast - 1) // abreast
    row, column = number % rows, number // rows
    members = (count - row + rows - 1) // rows
    left = (np.float32(column) - HALF * (np.float32(members) - ONE)) * spacing
    return bend * abs(left) - np.float32(row) * gap, left


def formation(kind: Kind, count: int, pose: tuple[float, float, float]) -> tuple[Doubles, Doubles]:
    """Return the positions (count, 2), m, and headings (count,), rad, of people in a conversation.

    Args:
        kind: one of `KINDS` for two people, or ``circle``.
        count: number of members, 2 or more.
        pose: x and y of the centre of the o-space, m, and the direction of the formation as seen from the centre, rad: the
            direction halfway between two members, or the direction to the first member of a circle.

    Raises:
        InputError: the kind is unknown, or does not suit this number of members.
    """
    if kind != "circle" and kind not in KINDS:
        raise InputError(f"no formation called {kind!r}; {nearest(kind, ['circle', *KINDS])}")
    if count < 2 or (kind != "circle" and count != 2):
        raise InputError(f"formation {kind!r} is for {'2 or more' if kind == 'circle' else '2'} people, not {count}")
    x, y, heading = pose
    if kind == "circle":
        angle = heading + 2.0 * math.pi * np.arange(count) / count
    else:
        angle = heading + KINDS[kind] * np.array([-0.5, 0.5])
    out = np.stack((np.cos(angle), np.sin(angle)), -1)
    radius = float(o_space_radius(count))
    return np.array([x, y]) + radius * out, np.pi - np.mod(-angle, 2.0 * np.pi)
