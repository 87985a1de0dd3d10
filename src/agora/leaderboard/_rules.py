"""The rules that the rows of an entry must satisfy: exactly the planned rows, all columns, and consistent values.

The rules do not run any episodes. Rows that satisfy them may still be made up; `agora.leaderboard.verification` runs some episodes
again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agora.benchmark.results import store
from agora.benchmark.results.rows import BESIDE, OPTIONAL
from agora.benchmark.results.store import Row
from agora.core.recording import FAILURES, Outcome, Reason
from agora.interfaces import Metric
from agora.metrics.clean import CAUSES
from agora.metrics.planning_time import TIMING
from agora.metrics.registered import metrics
from agora.perception.perception import LEVELS

if TYPE_CHECKING:
    from agora.leaderboard.entry import EntrySuite
    from agora.world.start import RobotStart, Start

_ROUNDING = 1e-6  # relative tolerance for numbers computed in two ways, one of them possibly in single precision
_OUTCOMES = [outcome.label for outcome in Outcome]
_REASONS = {reason.label for reason in Reason}
_PARTIES = {f"{party}_collision": f"collisions_{party}" for party in ("pedestrian", "wall", "robot")}
_OF_THOSE_THAT_REACHED = ("time_to_goal", "time_to_goal.taga", "path_efficiency", "path_efficiency.sean", "time_ratio")
_PARTS_OF_THE_TIME = (
    "deadlock_time",
    "stalled_time",
    "time_facing_pedestrians",
    "time_in_private_zone",
    "time_seen_by_pedestrians",
)
_FASTER = 1.5  # maximum multiple of the top speed; a robot moved by a simulator may exceed the top speed
_REACHED = 1e-4  # m, possible error of a position in single precision


def of_plan(rows: Sequence[Row], suite: EntrySuite, label: str) -> Iterator[str]:
    """Yield problems with the set of rows: missing, foreign and repeated rows, and wrong numbers of robots."""
    lost = set(suite.episodes) - {(row["stage"], row["episode"]) for row in rows}
    if lost:
        yield f"{len(lost)} episodes of the suite have no row"
    strange = [row["key"] for row in rows if not _fits(row, suite, label)]
    if strange:
        yield f"row {strange[0]!r} does not belong to this suite, seed and planner"
    keys = Counter(row["key"] for row in rows)
    if twice := [key for key, count in keys.items() if count > 1]:
        yield f"{twice[0]!r} occurs twice"
    for stage in suite.stages:
        robots: dict[int, set[int]] = {}
        for row in rows:
            if row["stage"] == stage:
                robots.setdefault(row["episode"], set()).add(row["robot"])
        most = Counter(len(some) for some in robots.values()).most_common(1)
        for episode, some in sorted(robots.items()):
            if some != set(range(most[0][0])):
                yield (
                    f"episode {episode} of stage {stage!r} has rows for robots {_numbers(some)}; the number of robots in other "
                    f"episodes is {most[0][0]}"
                )
                break


def of_columns(rows: Sequence[Row]) -> Iterator[str]:
    """Yield problems for missing and unexpected columns. The expected columns are those of Agora's own metrics, which are always
    available.
    """
    there = {column for row in rows for column in row}
    wanted = {*store.IDENTITY, *BESIDE, *(metric.name for metric in metrics(own=True) if metric.name not in TIMING)}
    if lost := sorted(wanted - there - {*OPTIONAL}):
        yield f"{len(lost)} columns are missing: {', '.join(lost[:3])}{' ...' if len(lost) > 3 else ''}"
    if more := sorted(there - wanted):
        yield f"column {more[0]!r} is not an Agora metric"


def of_timing(timing: Sequence[Row], rows: Sequence[Row]) -> Iterator[str]:
    """Yield problems with planning times: rows or columns that do not match, and impossible values."""
    if sorted(row["key"] for row in timing) != sorted(row["key"] for row in rows):
        yield "its rows do not match the rows of the entry"
    if strange := sorted({column for row in timing for column in row} - {*store.IDENTITY, *TIMING}):
        yield f"column {strange[0]!r} is not a planning time"
    for metric in (metric for metric in metrics(own=True) if metric.name in TIMING):
        for row in timing:
            value = row.get(metric.name)
            if value is not None and not (_is_number(value) and metric.takes(value)):
                yield f"{metric.name} of {row['key']!r} is {value!r}, but {_words(metric)}"
                break


def of_values(rows: Sequence[Row]) -> Iterator[str]:
    """Yield problems for values that are impossible, either in themselves or in combination with other values in the same row."""
    measured = [metric for metric in metrics(own=True) if metric.name not in TIMING]
    texts = [
        metric.name for metric in measured if not all(row.get(metric.name) is None or _is_number(row[metric.name]) for row in rows)
    ]
    if texts:
        yield f"column {texts[0]!r} does not contain numbers"
        return
    for metric in measured:
        if metric.total and (empty := [row["key"] for row in rows if row.get(metric.name) is None]):
            yield f"{metric.name} of {empty[0]!r} is empty, but it is defined for every episode"
        values = [(row["key"], row[metric.name]) for row in rows if row.get(metric.name) is not None]
        if wrong := [(key, value) for key, value in values if not metric.takes(value)]:
            yield f"{metric.name} of {wrong[0][0]!r} is {wrong[0][1]!r}, but {_words(metric)}"
    broken = list(_broken(rows, _IDENTITIES))
    yield from broken or _broken(rows, [*_AMONG, *_in_order(measured)])


def _broken(rows: Sequence[Row], some: Iterable[_Rule]) -> Iterator[str]:
    for rule in some:
        if keys := [row["key"] for row in rows if not rule.keeps(row)]:
            yield f"{keys[0]!r}{f' and {len(keys) - 1} more' if len(keys) > 1 else ''}: {rule.words}"


def of_starts(rows: Sequence[Row], start: Callable[[str, int], Start]) -> Iterator[str]:
    """Yield the contradictions between rows and the starts of their episodes: number of robots, robot model, distance to the goal.

    Args:
        rows: rows whose stages and episodes belong to the suite.
        start: function that returns the start of an episode, given stage and number.
    """
    episodes: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        episodes.setdefault((row["stage"], row["episode"]), []).append(row)
    for (stage, episode), some in episodes.items():
        begun = start(stage, episode)
        if (numbers := {row["robot"] for row in some}) != set(range(len(begun.robots))):
            yield (
                f"episode {episode} of stage {stage!r} has rows for robots {_numbers(numbers)}; its number of robots is "
                f"{len(begun.robots)}"
            )
            continue
        for row in some:
            if wrong := _beside(row, begun, begun.robots[row["robot"]]):
                yield f"{row['key']!r}: {wrong}"


def _beside(row: Row, begun: Start, robot: RobotStart) -> str:
    """Return the contradiction between a row and the start of its episode; empty if they agree."""
    if row["model"] != robot.model.name:
        return f"model is {row['model']!r}, but the robot is a {robot.model.name}"
    if row["duration"] > begun.timeout + _ROUNDING:
        return f"duration is {row['duration']!r} s, but the time limit is {begun.timeout:g} s"
    if _has_reached(row) and row["final_goal_distance"] > begun.goal_tolerance + _REACHED:
        return (
            f"outcome is reached, but final_goal_distance is {row['final_goal_distance']!r} m and the "
            f"tolerance is {begun.goal_tolerance:g} m"
        )
    fastest, at_most = _FASTER * robot.model.top_speed, f"a {robot.model.name} drives at most {robot.model.top_speed:.6g} m/s"
    if row["path_length"] > fastest * row["duration"] + _REACHED:
        return f"path_length is {row['path_length']!r} m in {row['duration']!r} s, but {at_most}"
    if row.get("velocity_max") is not None and row["velocity_max"] > fastest + _REACHED:
        return f"velocity_max is {row['velocity_max']!r} m/s, but {at_most}"
    if len(robot.goals) > 1:
        return ""
    away = math.dist(robot.pose[:2], robot.goals[-1][:2])
    if _has_reached(row) and row["path_length"] < away - begun.goal_tolerance - _REACHED:
        return f"outcome is reached, but path_length is {row['path_length']!r} m and the goal is {away:.6g} m from the start"
    for metric, ratio in (("path_length", "path_length_ratio"), ("final_goal_distance", "goal_traversal_ratio")):
        if row.get(ratio) is not None and not _equal(row[metric], row[ratio] * away, 1e-4):
            return f"{ratio} is {row[ratio]!r}, but {metric} is {row[metric]!r} m and the goal is {away:.6g} m from the start"
    return ""


@dataclass(frozen=True)
class _Rule:
    """A rule for a row.

    Attributes:
        words: message for a row that breaks the rule.
        columns: columns that the rule reads; if one is missing or empty, the rule does not apply.
        holds: function that returns whether a row satisfies the rule.
    """

    words: str
    columns: tuple[str, ...]
    holds: Callable[[Row], bool]

    def keeps(self, row: Row) -> bool:
        """Return whether a row satisfies the rule."""
        return any(row.get(column) is None for column in self.columns) or self.holds(row)


def _is(name: str, expected: Callable[[Row], bool | float], words: str, *columns: str) -> _Rule:
    """Return the rule that a column has the value implied by other columns."""
    return _Rule(f"{name} must be {words}", (name, *columns), lambda row: _equal(row[name], float(expected(row))))


def _ends(name: str, outcome: str) -> _Rule:
    """Return the rule that a column states whether the episode ended with a given outcome."""
    return _is(name, lambda row: row["outcome"] == outcome, f"1 if the outcome is {outcome}, else 0")


def _touches(outcome: str, party: str) -> _Rule:
    """Return the rule that the contact count is not 0 in an episode that ended with a contact."""
    return _Rule(f"outcome is {outcome}, but {party} is 0", (party,), lambda row: row["outcome"] != outcome or row[party] > 0.0)


def _only(name: str, given: Callable[[Row], bool], words: str) -> _Rule:
    """Return the rule that a column is empty unless a condition holds."""
    return _Rule(f"{name} may only be given if {words}", (name,), given)


def _less(less: str, more: str) -> _Rule:
    """Return the rule that the value in a column is at most the value in another column."""
    return _Rule(f"{less} is greater than {more}", (less, more), lambda row: row[less] <= row[more] or _equal(row[less], row[more]))


def _has_reached(row: Row) -> bool:
    return bool(row["outcome"] == "reached")


def _is_clean(row: Row) -> bool:
    return _has_reached(row) and not any(row[cause] for cause in CAUSES)


def _hit(row: Row) -> bool:
    return bool(row["outcome"] == "pedestrian_collision" or (_has_reached(row) and row["collisions_pedestrian"] > 0.0))


_IDENTITIES = (
    _Rule(f"outcome is not one of {', '.join(_OUTCOMES)}", (), lambda row: row.get("outcome") in _OUTCOMES),
    _Rule("pedestrians is not a level of perception", (), lambda row: row.get("pedestrians") in LEVELS),
    _Rule("reason is not a known reason", ("reason",), lambda row: row["reason"] in _REASONS),
    _Rule("duration is not a non-negative number", (), lambda row: _is_number(row.get("duration")) and row["duration"] >= 0.0),
    _Rule("clipped is not a non-negative number", (), lambda row: _is_number(row.get("clipped")) and row["clipped"] >= 0.0),
    _Rule("failure is not a string", (), lambda row: isinstance(row.get("failure"), str)),
)
"""Rules for the columns that are not metrics. The other rules are applied only if all rows satisfy these rules."""

_AMONG = (
    _Rule(
        "failure must be given if, and only if, the planner or the simulator failed",
        (),
        lambda row: bool(row["failure"]) == (row["outcome"] in FAILURES),
    ),
    _is("reached", _has_reached, "1 if the outcome is reached, else 0"),
    _ends("timeout", "timeout"),
    _ends("out_of_map", "out_of_map"),
    _ends("failure_wall_collision", "wall_collision"),
    *(_touches(outcome, party) for outcome, party in _PARTIES.items()),
    _is(
        "collisions",
        lambda row: sum(row[party] for party in _PARTIES.values()),
        f"the sum of {', '.join(_PARTIES.values())}",
        *_PARTIES.values(),
    ),
    _is(
        "success",
        lambda row: _has_reached(row) and row["collisions"] == 0.0,
        "1 if the goal was reached without contact, else 0",
        "collisions",
    ),
    _is(
        "success_k2",
        lambda row: _has_reached(row) and row["collisions"] < 2.0,
        "1 if the goal was reached with fewer than 2 contacts, else 0",
        "collisions",
    ),
    _is(
        "success_k3",
        lambda row: _has_reached(row) and row["collisions"] < 3.0,
        "1 if the goal was reached with fewer than 3 contacts, else 0",
        "collisions",
    ),
    _is(
        "success.socnavbench",
        lambda row: _has_reached(row) and row["collisions_pedestrian"] == 0.0,
        "1 if the goal was reached without touching a pedestrian, else 0",
        "collisions_pedestrian",
    ),
    _is("failure_pedestrian_collision", _hit, "1 if a pedestrian was touched, else 0", "collisions_pedestrian"),
    _is("path_traversal_time", lambda row: row["duration"], "the duration"),
    *(_is(name, lambda row: row["duration"], "the duration") for name in ("time_to_goal", "time_to_goal.taga")),
    *(_only(name, _has_reached, "the goal was reached") for name in _OF_THOSE_THAT_REACHED),
    _only("goal_traversal_ratio", lambda row: not _has_reached(row), "the goal was not reached"),
    _Rule(
        "outcome is reached, but time_to_goal is missing",
        (),
        lambda row: not _has_reached(row) or row.get("time_to_goal") is not None,
    ),
    _Rule(
        "spl must equal path_efficiency after a success and 0 after a failure",
        ("spl", "success"),
        lambda row: row["spl"] == _spl(row),
    ),
    _is(
        "velocity_average",
        lambda row: row["path_length"] / max(row["duration"], 1e-9),
        "path_length divided by duration",
        "path_length",
    ),
    _is("clean_arrival", _is_clean, "1 if the goal was reached and no cause spoilt the arrival, else 0", *CAUSES),
    *(_less(cause, "reached") for cause in CAUSES),
    _less("goal_distance_min", "final_goal_distance"),
    _less("path_length.taga", "path_length"),
    _less("success.taga", "success"),
    _less("timeout.taga", "timeout"),
    _less("pedestrian_force_q50", "pedestrian_force_q90"),
    _less("pedestrian_force_q90", "pedestrian_force_q95"),
    *(_less(part, "duration") for part in _PARTS_OF_THE_TIME),
)
"""Rules for metrics that follow from the outcome, from the duration, or from each other."""


def _spl(row: Row) -> float | None:
    return row.get("path_efficiency") if row["success"] else 0.0


def _in_order(measured: Iterable[Metric]) -> Iterator[_Rule]:
    """Yield the rules that ``..._min`` is at most ``..._average``, and ``..._average`` at most ``..._max``."""
    names = {metric.name for metric in measured}
    for name in sorted(names):
        stem, _, end = name.rpartition("_")
        for other in {"min": ("average", "max"), "average": ("max",)}.get(end, ()):
            if f"{stem}_{other}" in names:
                yield _less(name, f"{stem}_{other}")


def _fits(row: Row, suite: EntrySuite, label: str) -> bool:
    """Return whether a row belongs to an episode of a suite with a given planner."""
    stage = suite.stages.get(row["stage"])
    mine = row["suite"] == suite.name and row["planner"] == label and row["key"] == store.episode_key(row)
    return mine and stage is not None and 0 <= row["episode"] < stage.episodes and row["seed"] == stage.seed and row["robot"] >= 0


def _words(metric: Metric) -> str:
    """Return a description of the values that a metric can have."""
    kinds: Mapping[str, str] = {
        "amount": "cannot be below 0",
        "share": "must be from 0 to 1",
        "count": "must be a non-negative integer",
        "indicator": "must be 0 or 1",
    }
    return kinds.get(metric.kind, "must be finite")


def _is_number(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _equal(one: float, other: float, tolerance: float = _ROUNDING) -> bool:
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)


def _numbers(some: Iterable[int]) -> str:
    """Return numbers as text; if there are many, as a range such as ``0 to 300``."""
    ordered = sorted(some)
    return ", ".join(map(str, ordered)) if len(ordered) < 5 else f"{ordered[0]} to {ordered[-1]} ({len(ordered)})"
