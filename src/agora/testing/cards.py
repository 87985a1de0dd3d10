"""The contract for scenario cards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agora.benchmark.informed.oracle import CLOSE, Solution, drive, solve
from agora.episode import Conditions
from agora.errors import InputError
from agora.interfaces import ROBOT, Card
from agora.registry import available
from agora.robots.model import load_robot
from agora.seeds import Stream
from agora.tasks.cards.card import situation_of
from agora.tasks.faults import faults, task_of
from agora.tasks.suite import Suite
from agora.testing.errors import ContractError
from agora.testing.guard import identical, pure
from agora.world.start import PedestrianStarts

_DRAWS = 20


def check_card(card: Card, *, attempts: int = 3) -> Solution:
    """Check a registered card against the contract of `agora.tasks.cards.card`, and return its solution.

    The card has a description, and its metrics exist. In each of twenty draws, the parameters are in their ranges, the same stream
    gives the same situation, starts are free, and the goal and waypoints can be reached. In at least one of ``attempts`` draws, the
    oracle reaches the goal without contact and the interaction occurs, but it does not occur without the people. If the card
    describes a conflict, a robot that does not give way comes close to a person in that draw.

    Args:
        card: card to check.
        attempts: number of draws of which at least one must be solved.

    Raises:
        ContractError: the card breaks a clause.
    """
    texts = {"title", "origin", "tests", "leaves_out", "intended", "happens"}
    if missing := sorted(name for name in texts if not getattr(card, name)):
        raise ContractError(f"{card.name}: has no text for {', '.join(missing)}")
    if unknown := set(card.measures) - available("metrics").keys():
        raise ContractError(f"{card.name}: unknown metrics {sorted(unknown)}")
    _check_draws(card)
    suite, reasons = Suite("contract", (card.stage(episodes=attempts),), 5), []
    for episode in range(attempts):
        situation, solution = situation_of(suite, card.name, episode), solve(card, suite, episode)
        if not solution.solved:
            reasons.append(f"draw {episode} ended with {solution.recording.outcome.label}")
        elif not situation.happened(solution.recording):
            reasons.append(f"draw {episode} was solved, but the interaction did not occur")
        elif card.conflict and solution.conflict >= CLOSE:
            reasons.append(f"draw {episode} is not a conflict: a robot that never gives way still keeps {solution.conflict:.2f} m")
        else:
            _check_predicate(card, suite, episode, solution)
            return solution
    raise ContractError(f"{card.name}: " + "; ".join(reasons))


def _check_draws(card: Card) -> None:
    """Check that parameters are in range, that the same stream gives the same situation, and that positions are valid."""
    radius = load_robot(ROBOT).radius
    for k in range(_DRAWS):
        where = f"{card.name}: draw {k}"
        try:
            card.check(card.settings(_stream(card, k)))
        except InputError as error:
            raise ContractError(f"{where}: {error}") from error
        with pure(where):
            drawn, again = (card.draw(_stream(card, k)) for _ in range(2))
        if not identical((drawn.people, drawn.start, drawn.goal, drawn.map), (again.people, again.start, again.goal, again.map)):
            raise ContractError(f"{where}: not deterministic: different situations for the same random stream")
        poses = np.stack([drawn.start[:2], drawn.goal[:2]])
        if float(drawn.map.gap(poses, limit=1.0).min()) <= radius or not bool(drawn.map.contains(poses).all()):
            raise ContractError(f"{where}: a robot with radius {radius:g} m has no room at its start or goal")
    if wrong := faults(task_of(drawn, radius)):
        raise ContractError(f"{where}: {wrong[0].text}")


def _check_predicate(card: Card, suite: Suite, episode: int, solution: Solution) -> None:
    """Check that the predicate does not find the interaction in a recording if people are missing, or if a person is added to an
    empty scene.
    """
    situation, recording = situation_of(suite, card.name, episode), solution.recording
    if situation.people:
        start = replace(suite.start(card.name, episode), pedestrians=PedestrianStarts.none())
        other = drive(start, recording.pose[:, :2], Conditions.of(suite.stages[0]))
    else:
        beside = recording.pose[:, None, :2] + 1.0
        there, first = np.ones(beside.shape[:2], np.bool_), np.ones(1, np.int32)
        other = replace(recording, pedestrian_position=beside, pedestrian_present=there, pedestrian_id=first)
    if situation.happened(other):
        raise ContractError(f"{card.name}: draw {episode}: the predicate holds with and without the people")


def _stream(card: Card, k: int) -> Stream:
    return Stream(f"contract/{card.name}/{k}", 5, "task")
