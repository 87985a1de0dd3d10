"""Semantic attributes: facts about pedestrians, expressed as numbers at positions, using Arena's terms (crowdsim's
``semantic/<attribute>``).

Differences from Arena's code: Arena's velocity attributes are actually forces, and a pedestrian counts as moving if its force is
above 0.05; in this module, all of these attributes use the velocity. ``social_state.<state>`` is 1 for pedestrians in that state;
Arena's index into a list cannot express this.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import ONE, ZERO
from agora.core.state import SOCIAL_STATES
from agora.errors import UnknownNameError

__all__ = ["ATTRIBUTES"]

ATTRIBUTES = (
    "pedestrian",  # 1
    "pedestrian_moving",  # 1 above 0.05 m/s
    "pedestrian_vel_x",  # m/s, map frame
    "pedestrian_vel_y",
    "pedestrian_type",  # number in TYPES: adult 0, elder 1, as in Arena
    "social_state",  # number in SOCIAL_STATES
    "stress",  # in [0, 1], like the next two
    "energy",
    "social",
    *(f"social_state.{name}" for name in SOCIAL_STATES),
)
"""All attributes; kernels receive the index into this list."""

MOVING = np.float32(0.05)
"""Speed above which a pedestrian counts as moving, m/s."""

MOTION = ATTRIBUTES[:4]
"""Attributes that follow from a pedestrian's motion."""

_PEDESTRIAN, _MOVING, _VEL_X, _VEL_Y, _TYPE, _STATE, _STRESS, _ENERGY, _SOCIAL = range(9)
_FIRST_STATE = 9


@hidden
def motion_evidence(attribute, vx, vy):
    """The evidence for an attribute in `MOTION`, given a pedestrian's velocity; 1 for other attributes; float32."""
    value = ONE
    if attribute == _MOVING:
        value = ONE if math.sqrt(vx * vx + vy * vy) > MOVING else ZERO
    elif attribute == _VEL_X:
        value = vx
    elif attribute == _VEL_Y:
        value = vy
    return value


@hidden
def evidence_of(attribute, people, minds, w, i):
    """The evidence that pedestrian i of world w gives for an attribute, identified by its number; float32."""
    value = motion_evidence(attribute, people.vx[w, i], people.vy[w, i])
    if attribute == _TYPE:
        value = np.float32(minds.type[w, i])
    elif attribute == _STATE:
        value = np.float32(minds.state[w, i])
    elif attribute == _STRESS:
        value = minds.stress[w, i]
    elif attribute == _ENERGY:
        value = minds.energy[w, i]
    elif attribute == _SOCIAL:
        value = minds.social[w, i]
    elif attribute >= _FIRST_STATE:
        value = ONE if minds.state[w, i] == attribute - _FIRST_STATE else ZERO
    return value


def attribute_number(attribute: str) -> int:
    """Return the number of an attribute.

    Raises:
        UnknownNameError: the attribute is unknown.
    """
    if attribute not in ATTRIBUTES:
        raise UnknownNameError("semantic attribute", attribute, ATTRIBUTES)
    return ATTRIBUTES.index(attribute)
