"""Groups the messages of Agora's ROS graph in a bag by episode.

An episode begins with a message about the robots at step 0. Stamps in the graph only increase, so all messages from this stamp up
to the next step 0 belong to the episode. The message that describes an episode precedes step 1 of the episode.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

from agora.datasets.bag_order import ranks
from agora.datasets.messages import seconds
from agora.datasets.parts import Source
from agora.errors import InputError

EPISODE = "task_generator_server/episode"
ROBOTS = "simulator/robots"
_PEDESTRIANS, _STATUS = "pedsim_simulator/pedestrians", "simulator/status"
_CONTACTS, _NOTES = "simulator/contacts", "navigation/notes"
_TOPICS = (EPISODE, ROBOTS, _PEDESTRIANS, _STATUS, _CONTACTS, _NOTES)
SAME = 1e-6
"""Maximum difference at which two stamps count as equal, s."""


@dataclass
class EpisodeMessages:
    """The messages of an episode.

    ``robots`` and ``pedestrians`` are keyed by physics step; ``began`` is the record time of the start, ns; ``set_at`` lists the
    steps at which goals were set manually.
    """

    episode: Any = None
    status: Any = None
    robots: dict[int, Any] = field(default_factory=dict)
    pedestrians: dict[int, Any] = field(default_factory=dict)
    contacts: list[Any] = field(default_factory=list)
    notes: list[Any] = field(default_factory=list)
    began: int = 0
    set_at: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class _Run:
    """Messages about the robots from a step 0 on: the indices of the first and last messages, the record time of the first message
    (ns), and the steps.
    """

    first: int
    last: int
    began: int
    steps: dict[int, Any]


def topics_of(bag: Source) -> dict[str, str]:
    """Return the topics in a bag that describe episodes, in any namespace, by kind.

    Raises:
        InputError: the file cannot be read, or is not a bag.
    """
    for _ in bag.messages([]):
        pass
    return {c.topic: name for c in bag.connections.values() for name in _TOPICS if c.topic.endswith("/" + name)}


def collect_episodes(bag: Source) -> tuple[list[EpisodeMessages], list[str]]:
    """Return the messages of each episode, in order, and notes on incomplete episodes.

    Raises:
        InputError: the bag does not contain an episode, or does not contain the beginning of any episode.
    """
    wanted = topics_of(bag)
    heard: dict[str, list[tuple[int, int, Any]]] = {name: [] for name in _TOPICS}
    order = ranks(bag, lambda connection: wanted.get(connection.topic) == ROBOTS, wanted)
    for message, number in zip(bag.messages(wanted), order.tolist(), strict=False):
        heard[wanted[message.connection.topic]].append((number, message.nanoseconds, message.decode()))
    for messages in heard.values():
        messages.sort(key=lambda one: one[0])
    if not heard[EPISODE]:
        raise InputError(f"{bag.path}: no message on {EPISODE}; expected a bag written by Agora's recorder")
    runs = _runs(heard[ROBOTS])
    if not runs:
        entry = heard[EPISODE][-1][2].entry
        raise InputError(f"{bag.path}: no robots at the start of {entry}; expected {ROBOTS} from step 0 on")
    told = {run.first: max((one for one in heard[EPISODE] if one[0] < run.last), default=heard[EPISODE][0]) for run in runs}
    # A latched step 0 of an earlier episode may follow the description of this episode, so repeated beginnings are ignored.
    runs = [run for run, after in itertools.pairwise([*runs, None]) if run and not (after and told[run.first] is told[after.first])]
    notes = _left_out(heard[EPISODE], [told[run.first][0] for run in runs])
    edges = [-math.inf, *(time_of(run.steps[0]) - SAME for run in runs[1:]), math.inf]
    return [
        _messages_of(heard, run, told[run.first][2], since, until)
        for run, (since, until) in zip(runs, itertools.pairwise(edges), strict=True)
    ], notes


def _runs(robots: list[tuple[int, int, Any]]) -> list[_Run]:
    """Divide the messages about robots into runs, each of which begins with a step 0; messages of an earlier run are skipped."""
    starts = [k for k, (_, _, content) in enumerate(robots) if content.step == 0]
    runs = []
    for begin, end in zip(starts, [*starts[1:], len(robots)], strict=True):
        part = robots[begin:end]
        runs.append(_Run(part[0][0], part[-1][0], part[0][1], {content.step: content for _, _, content in part}))
    return runs


def _messages_of(
    heard: dict[str, list[tuple[int, int, Any]]], run: _Run, episode: Any, since: float, until: float
) -> EpisodeMessages:
    """Return the messages of one episode, whose stamps are at or after ``since`` and before ``until``."""
    within = {name: [m for _, _, m in heard[name] if since <= time_of(m) < until] for name in _TOPICS[2:]}
    said = EpisodeMessages(episode=episode, robots=run.steps, contacts=within[_CONTACTS], notes=within[_NOTES], began=run.began)
    for content in within[_PEDESTRIANS]:
        if content.step == 0:
            said.pedestrians.clear()
        said.pedestrians[content.step] = content
    statuses = [m for m in within[_STATUS] if m.number == episode.number]
    said.status = statuses[-1] if statuses else None
    for before, after in itertools.pairwise([None, *statuses]):
        if sum(map(goals_by_hand, after.robots)) > sum(map(goals_by_hand, before.robots if before else ())):
            said.set_at.append(after.step)
    return said


def _left_out(episodes: list[tuple[int, int, Any]], read: list[int]) -> list[str]:
    """Return notes on the episodes whose beginnings are not in the bag."""
    known = {content.number for number, _, content in episodes if number in read}
    lost = {content.number: content.entry for _, _, content in episodes if content.number not in known}
    return [f"the start of {entry} is not in the bag; the episode is left out" for entry in lost.values()]


def goals_by_hand(robot: Any) -> int:
    """Return how many goals of a robot were set manually, according to its ``RobotStatus``; 0 for older bags, which lack this
    field.
    """
    return int(getattr(robot, "by_hand", 0))


def time_of(message: Any) -> float:
    """Return the stamp of a message, s."""
    return seconds(message.header.stamp)
