"""The appearance of people: their height, their clothes, and the parts of which they are composed.

The appearance depends on a pedestrian's id in its episode, never on a slot, so that everyone looks the same in any batch.
Proportions are those of R. Drillis and R. Contini, "Body segment parameters", 1966, as reproduced by D. A. Winter ("Biomechanics
and motor control of human movement", 4th edition, 2009, figure 4.1); children have shorter legs and larger heads. Sizes and colours
are Agora's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agora.core.jit import kernel
from agora.core.state import TYPES, Array, Bools, Doubles, Ints
from agora.seeds import uniform_at

__all__ = ["ADULT", "PARTS", "Looks", "looks_of"]

ADULT, ELDER, CHILD, WHEELCHAIR = (TYPES.index(name) for name in ("adult", "elder", "child", "wheelchair"))

PARTS = (
    "pelvis",
    "torso",
    "head",
    "face",
    "hair",
    "upper_arm_left",
    "upper_arm_right",
    "forearm_left",
    "forearm_right",
    "hand_left",
    "hand_right",
    "thigh_left",
    "thigh_right",
    "shank_left",
    "shank_right",
    "foot_left",
    "foot_right",
    "skirt",
    "bag",
    "stick",
    "phone",
    "stool",
    "chair",
    "wheel_left",
    "wheel_right",
    "post",
)
"""The parts of a person, including objects that belong to the person."""

_AT = {name: number for number, name in enumerate(PARTS)}
_HAIR = ("hair", "hair", "hair_long", "hair_bun", "cap", "")
_STREAM = np.uint64(0x6C6F6F6B732D3031)
_DRAWS = 16

_SKIN = np.array([(0.93, 0.76, 0.65), (0.87, 0.67, 0.53), (0.78, 0.57, 0.42), (0.60, 0.42, 0.30), (0.42, 0.29, 0.21)])
_HAIRS = np.array([(0.10, 0.08, 0.07), (0.23, 0.15, 0.10), (0.38, 0.25, 0.15), (0.62, 0.47, 0.26), (0.45, 0.20, 0.12)])
_GREY = np.array([(0.72, 0.72, 0.72), (0.85, 0.85, 0.84), (0.55, 0.55, 0.56)])
_TOPS = np.array(
    [
        (0.72, 0.16, 0.16),
        (0.16, 0.30, 0.58),
        (0.90, 0.89, 0.86),
        (0.18, 0.45, 0.32),
        (0.93, 0.72, 0.20),
        (0.22, 0.22, 0.25),
        (0.46, 0.30, 0.52),
        (0.36, 0.62, 0.74),
        (0.88, 0.48, 0.22),
        (0.62, 0.62, 0.60),
        (0.82, 0.52, 0.58),
        (0.45, 0.48, 0.30),
    ]
)
_TROUSERS = np.array(
    [(0.15, 0.19, 0.32), (0.13, 0.13, 0.15), (0.46, 0.40, 0.32), (0.26, 0.33, 0.45), (0.34, 0.34, 0.36), (0.30, 0.22, 0.17)]
)
_SHOES = np.array([(0.10, 0.09, 0.09), (0.32, 0.21, 0.14), (0.85, 0.85, 0.83), (0.30, 0.10, 0.12)])
_WOOD, _BLACK, _STEEL, _DARK = (0.45, 0.29, 0.15), (0.06, 0.06, 0.07), (0.30, 0.32, 0.36), (0.13, 0.09, 0.08)


class Looks(NamedTuple):
    """The appearance of the people in all slots.

    Attributes:
        kind: (P,) type of each person, an index in `agora.core.state.TYPES`.
        height: (P,) height when standing upright, m.
        thigh: (P,) length of the thigh, m.
        shank: (P,) length of the shank, m.
        ankle: (P,) height of the ankle, m.
        foot: (P,) length of the foot, m.
        hips: (P,) half the distance between the hip joints, m.
        torso: (P,) length of the torso from the waist to the neck, m.
        shoulders: (P,) half the distance between the shoulder joints, m.
        upper_arm: (P,) length of the upper arm, m.
        forearm: (P,) length of the forearm, m.
        head: (P,) height of head and neck, m.
        radius: (P,) radius of the disc on the ground, m.
        girth: (P,) body width as a fraction of the average width.
        phase: (P,) initial phase of the gait, 0 to 1.
        colour: (P, parts, 3) red, green, blue in [0, 1].
        mesh: (P, parts) index of each part's mesh among the names in `agora.rendering.meshes.library`.
        worn: (P, parts) whether the person has the part in every pose; the phone and the stool depend on the activity.
    """

    kind: Ints
    height: Doubles
    thigh: Doubles
    shank: Doubles
    ankle: Doubles
    foot: Doubles
    hips: Doubles
    torso: Doubles
    shoulders: Doubles
    upper_arm: Doubles
    forearm: Doubles
    head: Doubles
    radius: Doubles
    girth: Doubles
    phase: Doubles
    colour: Doubles
    mesh: Ints
    worn: Bools


@kernel
def _draw(key, identity, out):
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = uniform_at(key, identity[i], 0, k)


def looks_of(key: np.uint64, identity: Ints, kind: Ints, body: Ints, radius: Array, names: Sequence[str]) -> Looks:
    """Return the appearance of people.

    Args:
        key: key of the episode's random stream.
        identity: (P,) ids of the people.
        kind: (P,) types of the people, indices in `agora.core.state.TYPES`.
        body: (P,) number of the rigid body to which a disc belongs, -1 for people; discs of rigid bodies look like posts.
        radius: (P,) radii of the discs on the ground, m.
        names: names of the meshes; their order defines the mesh indices.
    """
    draws = np.empty((len(identity), _DRAWS))
    _draw(key ^ _STREAM, identity.astype(np.int64), draws)
    slim = draws[:, 0] < 0.5
    tall = np.select([kind == CHILD, slim], [1.08 + 0.34 * draws[:, 1], 1.55 + 0.20 * draws[:, 1]], 1.67 + 0.22 * draws[:, 1])
    tall = np.where(kind == ELDER, tall - 0.05, tall)
    child = kind == CHILD
    leg = tall * np.where(child, 0.455, 0.491)
    head = tall * np.where(child, 0.222, 0.178) * np.where(child, 1.26 / np.maximum(tall, 1.0), 1.0)
    girth = (0.92 + 0.22 * draws[:, 2]) * np.where(child, 0.92, 1.0)
    return Looks(
        kind=kind.astype(np.int32),
        height=tall,
        thigh=0.5 * leg,
        shank=0.5 * leg,
        ankle=0.042 * tall,
        foot=0.152 * tall,
        hips=0.050 * tall * girth,
        torso=0.94 * tall - head - leg - 0.042 * tall,
        shoulders=tall * np.where(slim, 0.104, 0.114) * (0.5 + 0.5 * girth),
        upper_arm=0.178 * tall,
        forearm=0.146 * tall,
        head=head,
        radius=np.asarray(radius, float),
        girth=girth,
        phase=draws[:, 3],
        colour=_colours(draws, kind, slim),
        mesh=_meshes(draws, kind, slim, names),
        worn=np.where((body >= 0)[:, None], np.arange(len(PARTS)) == _AT["post"], _worn(draws, kind, slim)),
    )


def _pick(table: Array, draw: Doubles) -> Array:
    """Return a row of a table for each random number."""
    picked: Array = np.asarray(table)[np.minimum((draw * len(table)).astype(int), len(table) - 1)]
    return picked


def _style(draws: Doubles, slim: Bools) -> Ints:
    """Return the index of each person's hair in `_HAIR`."""
    long = np.minimum(1 + (draws[:, 4] * 4).astype(int), 4)
    return np.where(slim, np.where(long == 1, 2, long), np.where(draws[:, 4] < 0.68, 0, np.where(draws[:, 4] < 0.86, 4, 5)))


def _colours(draws: Doubles, kind: Ints, slim: Bools) -> Doubles:
    skin, hair = _pick(_SKIN, draws[:, 5]), _pick(_HAIRS, draws[:, 6])
    hair = np.where((kind == ELDER)[:, None], _pick(_GREY, draws[:, 6]), hair)
    hair = np.where((_style(draws, slim) == 4)[:, None], _pick(_TOPS, draws[:, 12]), hair)
    top = np.clip(_pick(_TOPS, draws[:, 7]) * (0.85 + 0.25 * draws[:, 8, None]), 0.0, 1.0)
    legs = _pick(_TROUSERS, draws[:, 9]) * (0.85 + 0.3 * draws[:, 10, None])
    dress = (slim & (draws[:, 11] < 0.22))[:, None]
    bare = (draws[:, 13] < 0.35)[:, None]
    shorts = ((kind == CHILD) & (draws[:, 14] < 0.5))[:, None] | dress
    colour = np.zeros((len(draws), len(PARTS), 3))
    groups: dict[str, Any] = {
        "head hand_left hand_right": skin,
        "hair": hair,
        "torso upper_arm_left upper_arm_right": top,
        "forearm_left forearm_right": np.where(bare, skin, top),
        "pelvis skirt": np.where(dress, top * 0.9, legs),
        "thigh_left thigh_right": np.where(dress, top * 0.9, legs),
        "shank_left shank_right": np.where(shorts, skin, legs),
        "foot_left foot_right": _pick(_SHOES, draws[:, 12]),
        "bag": _pick(_TOPS, draws[:, 8]) * 0.6,
        "face": _DARK,
        "stick stool": _WOOD,
        "phone wheel_left wheel_right": _BLACK,
        "chair post": _STEEL,
    }
    for names, value in groups.items():
        for name in names.split():
            colour[:, _AT[name]] = value
    return colour


def _meshes(draws: Doubles, kind: Ints, slim: Bools, names: Sequence[str]) -> Ints:
    own = {name: number for number, name in enumerate(names)}
    plain = [own.get(name.removesuffix("_left").removesuffix("_right"), 0) for name in PARTS]
    mesh = np.tile(np.array(plain, np.int32), (len(draws), 1))
    mesh[slim | (kind == CHILD), _AT["torso"]] = own["torso_slim"]
    mesh[:, _AT["hair"]] = np.array([own[name] if name else 0 for name in _HAIR])[_style(draws, slim)]
    return mesh


def _worn(draws: Doubles, kind: Ints, slim: Bools) -> Bools:
    worn = np.ones((len(draws), len(PARTS)), np.bool_)
    worn[:, _AT["hair"]] = _style(draws, slim) != _HAIR.index("")
    worn[:, _AT["skirt"]] = slim & (draws[:, 11] < 0.22) & (kind != WHEELCHAIR)
    worn[:, _AT["bag"]] = (draws[:, 15] < 0.25) & (kind != WHEELCHAIR) & (kind != ELDER)
    worn[:, _AT["stick"]] = kind == ELDER
    for name in ("phone", "stool", "post"):
        worn[:, _AT[name]] = False
    for name in ("chair", "wheel_left", "wheel_right"):
        worn[:, _AT[name]] = kind == WHEELCHAIR
    return worn
