"""Looks up cards by name, returns the situation of a finished episode, and provides building blocks for cards."""

from __future__ import annotations

from typing import Any

import numpy as np

from agora.core.state import Doubles
from agora.draft.people import Person
from agora.errors import InputError
from agora.interfaces import Card, ResetPlan, Situation
from agora.registry import available, load
from agora.seeds import Stream
from agora.tasks.suite import Suite

__all__ = ["pose", "situation_of", "walker"]


def load_card(name: str) -> Card:
    """Return the card with a given name.

    Raises:
        UnknownNameError: no card has this name.
    """
    found: Card = load("cards", name)
    return found


def card_names() -> list[str]:
    """Return the names of all cards."""
    return sorted(available("cards"))


def situation_of(suite: Suite, stage: str, episode: int) -> Situation:
    """Return the situation that a stage's card creates for an episode. The situation's predicate can be evaluated on the episode's
    recording.

    Raises:
        InputError: the stage does not run a card.
    """
    source = suite.stage(stage).world
    if source.name != "card":
        raise InputError(f"stage {stage!r} of suite {suite.name!r} uses the world source {source.name!r}, not a card")
    plan = ResetPlan(suite.name, suite.stage(stage), episode, suite.seed_of(stage))
    return load_card(source.part.card).draw(Stream(plan.drawn, plan.seed, "task"), source.part.values)


def pose(x: float, y: float, heading: float = 0.0) -> Doubles:
    """Return a pose (3,)."""
    return np.array([x, y, heading], np.float64)


def walker(
    start: tuple[float, float], *waypoints: tuple[float, float], speed: float = 1.0, radius: float = 0.25, **more: Any
) -> Person:
    """Return a pedestrian who walks along waypoints and stays at the last waypoint; without waypoints, the pedestrian stays at its
    start.
    """
    route = np.array(waypoints or (start,), np.float64)
    return Person(np.array(start, np.float64), route, speed, radius, **({"mode": 2, "tolerance": 0.3} | more))
