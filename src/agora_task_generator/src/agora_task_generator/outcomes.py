"""Describes the outcomes of episodes for the log: how each episode ended, and the totals."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from agora.core.recording import Outcome
from agora_msgs.msg import Episode, EpisodeStatus, Robot, RobotStatus


class Outcomes:
    """Describes and counts the outcomes of episodes."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()

    def add(self, status: EpisodeStatus, episode: Episode, endless: bool) -> str:
        """Count a finished episode, and return a line about it.

        Args:
            status: status of the episode at its end.
            episode: episode as it began.
            endless: whether the episode's robots receive one goal after another until the time limit, so that reaching the limit is
                not a failure.
        """
        ends = [_end(robot, endless) for robot in status.robots]
        self._count.update(ends)
        names, begun = [f"{robot.name} " if len(ends) > 1 else "" for robot in status.robots], {r.name: r for r in episode.robots}
        goals = [_reached(robot, begun[robot.name]) if endless and robot.name in begun else None for robot in status.robots]
        parts = zip(names, ends, status.robots, goals, strict=True)
        return f"episode {status.number}: " + "; ".join(f"{name}{end}, {_more(robot, count)}" for name, end, robot, count in parts)

    def all(self) -> str:
        """Return a text that lists the number of robots per outcome."""
        return ", ".join(f"{count} {end}" for end, count in self._count.most_common()) or "no robot has finished"


def _end(robot: RobotStatus, endless: bool) -> str:
    if not robot.ended:
        return "still driving"
    outcome = Outcome(robot.outcome)
    if endless and outcome == Outcome.TIMEOUT:
        return "out of time"
    return outcome.label.replace("_", " ")


def _reached(robot: RobotStatus, begun: Robot) -> int:
    """Return the number of goals that a robot has reached; the position at which a guided robot waits for a waypoint does not
    count.

    Of the goals set by hand, only the last one is known to have been reached.
    """
    listed = begun.goals[: robot.goal - robot.by_hand]
    by_hand = bool(robot.by_hand and robot.ended and robot.outcome == Outcome.REACHED)
    return sum(before != goal for before, goal in pairwise([begun.pose, *listed])) + by_hand


def _more(robot: RobotStatus, count: int | None) -> str:
    """Return a text with a robot's time, contacts, number of reached goals (if there is no last goal) and failure."""
    goals = "" if count is None else f", {_counted(count, 'goal')} reached"
    failure = f": {robot.failure}" if robot.failure else ""
    by_hand = ", goal set by hand" if robot.by_hand else ""
    return f"{robot.end_time:.1f} s{goals}{by_hand}, {_counted(robot.contacts, 'contact')}{failure}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
