"""Translates Arena's terms for crowds into Agora's: names of crowd models, social states and types; spawned pedestrians; and walls
as segments.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from agora.config import parse_component
from agora.core.state import SOCIAL_STATES, TYPES, Bools, Doubles
from agora.registry import Named
from agora.tasks.obstacles.scenario import people_from
from agora.tasks.suite import pedestrian_starts

if TYPE_CHECKING:
    from agora.draft.people import People
    from agora.draft.scenario import Pedestrian
    from agora.maps.grid import Map
    from agora.seeds import Stream
    from agora.world.start import PedestrianStarts

__all__ = ["STATE_NAMES", "crowd_model", "names_plugin", "newcomers", "outline", "state_number", "type_name"]

_MODELS = {"": "anticipation", "deepsocialforce": "deep_social_force"}
_STATES = {
    "idle": "Waiting",
    "walking": "Walking",
    "running": "Running",
    "avoiding": "Avoiding",
    "talking": "Talking",
    "listening": "Listening",
    "telling": "TellStory",
    "texting": "Texting",
    "phone": "Phone",
    "interested": "Interested",
    "interacting": "Interacting",
    "queueing": "Queueing",
    "sitting": "Sitting",
    "working": "Working",
    "panicking": "Panicking",
    "surprised": "Surprised",
    "threatening": "Threatening",
}
STATE_NAMES = tuple(_STATES[name] for name in SOCIAL_STATES)
"""Values of ``AgentState.social_state``, indexed by the number in `agora.core.state.SOCIAL_STATES`; Arena's name is used if it has
one.
"""

_ANIMATIONS = ("idle", "walking", "running", "interacting", "talking", "phone")  # numbers 1 to 6 of crowdsim's animations
_OTHER_STATES = {
    "none": "walking",
    "groupwalking": "walking",
    "grouptalking": "talking",
    "talkingandwalking": "talking",
    "listeningandwalking": "listening",
    "shopping": "interacting",
    "reachedshelf": "interacting",
    "waitfortimer": "idle",
    "waitfortrigger": "idle",
    "panic": "panicking",
}


def names_plugin(text: str) -> bool:
    """Return whether Arena's argument ``sfm`` names a plugin (``module:name``), which runs in its own node, rather than a crowd
    model.

    ``helbing:relaxation_time=0.6`` and ``helbing(relaxation_time=0.6)``, by contrast, name a crowd model with a parameter.
    """
    return ":" in text and not {"(", "="} & set(text)


def crowd_model(text: str) -> Named:
    """Return the crowd model that Arena's argument ``sfm`` selects, by its name in Agora or Arena, with optional parameters.

    Args:
        text: value of the argument, such as "", "pysocial", "deepsocialforce", "orca(horizon=3)", "orca:horizon=3".

    Raises:
        InputError: the crowd model or a parameter is unknown.
    """
    name = re.split("[(:]", text.strip(), maxsplit=1)[0]
    return parse_component("crowd_models", _MODELS.get(name, name) + text.strip().removeprefix(name), f"crowd model {text!r}")


def state_number(text: str) -> int | None:
    """Return the number of the social state that has this name in Arena or in `STATE_NAMES`; None if there is no such state."""
    word = text.strip().strip('"').lower().removeprefix("state")
    if word.isdigit() and 1 <= int(word) <= len(_ANIMATIONS):
        word = _ANIMATIONS[int(word) - 1]
    known = {name.lower(): number for number, name in enumerate(STATE_NAMES)} | {n: k for k, n in enumerate(SOCIAL_STATES)}
    return known.get(_OTHER_STATES.get(word, word))


def type_name(number: int) -> str:
    """Return Arena's name for a type from `agora.core.state.TYPES`, such as "human/adult"."""
    return f"human/{TYPES[number]}"


def newcomers(
    pedestrians: Sequence[Pedestrian], crowd: People, stream: Stream, first_id: int
) -> tuple[PedestrianStarts, tuple[str, ...]]:
    """Return the pedestrians to spawn and their names.

    An entry may stand for several pedestrians, as in a suite (`agora.tasks.obstacles.scenario.people_from`).

    Args:
        pedestrians: pedestrians with the fields of the message ``pedsim_msgs/Ped``.
        crowd: values that the message does not contain.
        stream: random stream from which speeds are drawn.
        first_id: id of the first pedestrian; the others get consecutive ids.

    Raises:
        InputError: a type is unknown.
    """
    people = [person for pedestrian in pedestrians for person in people_from(pedestrian, crowd, stream)]
    starts = pedestrian_starts(people, crowd)
    return dataclasses.replace(starts, id=starts.id + np.int32(first_id - 1)), tuple(person.name for person in people)


def outline(place: Map) -> Doubles:
    """Return the walls of a map as segments (K, 4) x0, y0, x1, y1, m: its segments, the edges of its polygons and occupied cells,
    and a circumscribed octagon for each disc.
    """
    turn = np.arange(9) * (np.pi / 4)
    reach = place.discs[:, 2:] / np.cos(np.pi / 8)
    x, y = place.discs[:, :1] + reach * np.cos(turn), place.discs[:, 1:2] + reach * np.sin(turn)
    octagons = np.stack([x[:, :-1], y[:, :-1], x[:, 1:], y[:, 1:]], -1).reshape(-1, 4)
    cells = place.occupied
    rows, columns = np.pad(cells, ((1, 1), (0, 0))), np.pad(cells, ((0, 0), (1, 1)))
    level, upright = _runs(rows[1:] != rows[:-1]), _runs((columns[:, 1:] != columns[:, :-1]).T)
    edges = np.concatenate([level[:, [1, 0, 2, 0]], upright[:, [0, 1, 0, 2]]]).astype(float)
    return np.concatenate([place.walls, octagons, edges * place.resolution + np.tile(place.origin, 2)])


def _runs(edges: Bools) -> Doubles:
    """Return the runs (K, 3) of consecutive True entries along the rows: row, first column, and one past the last column."""
    padded = np.pad(edges, ((0, 0), (1, 1))).astype(np.int8)
    change = np.diff(padded, axis=1)
    first, last = np.argwhere(change == 1), np.argwhere(change == -1)
    return np.column_stack([first, last[:, 1]])
