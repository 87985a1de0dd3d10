"""Lists the failures and spoilt arrivals of a run, with how each one occurred and the command that replays it, and chooses the
episodes most worth replaying.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agora.benchmark.results.store import Row
from agora.core.recording import Closer, Recording
from agora.errors import InputError
from agora.metrics.clean import CAUSES
from agora.reporting.clean_arrivals import causes_of, is_spoilt
from agora.viewer.scene import title_of
from agora.viewer.why import why

MOST_FAILURES = 500
"""Maximum number of failures that are listed; any further failures are only counted."""

REPLAYED = 6_000_000
"""Approximate maximum size of the replays embedded in a report, bytes."""


def has_failed(row: Row) -> bool:
    """Return whether an episode did not reach its goal."""
    return bool(row["outcome"] != "reached")


def choose(rows: Sequence[Row], most: int) -> list[str]:
    """Return the keys of the episodes most worth replaying, at most ``most``: first one per planner and outcome and one per planner
    and cause that spoilt an arrival, then more failures, then more spoilt arrivals, alternating between planners.
    """
    if most < 0:
        raise InputError(f"replays is {most}, expected 0 or more")
    queues: dict[str, list[str]] = {}
    for planner in dict.fromkeys(row["planner"] for row in rows):
        members = [row for row in rows if row["planner"] == planner]
        first = {kind: row["key"] for row in reversed(members) for kind in (row["outcome"], *causes_of(row))}
        ends = sorted(first, key=lambda kind: (kind in CAUSES.values(), kind == "reached", kind))
        more = [row["key"] for some in (has_failed, is_spoilt) for row in members if some(row)]
        queues[planner] = list(dict.fromkeys([*(first[end] for end in ends), *more]))
    longest = max((len(queue) for queue in queues.values()), default=0)
    turns = [queue[turn] for turn in range(longest) for queue in queues.values() if turn < len(queue)]
    return turns[:most]


def recordings_that_fit(recordings: Mapping[str, Recording], most: int = REPLAYED) -> dict[str, Recording]:
    """Return the first recordings that fit into a page of about ``most`` bytes, assuming about one byte per number that changes
    over time.
    """
    found: dict[str, Recording] = {}
    size = 0
    for key, recording in recordings.items():
        size += 9 * len(recording.time) + 3 * int(recording.pedestrian_present.sum())
        if size > most and found:
            break
        found[key] = recording
    return found


def episodes_to_film(rows: Sequence[Row], count: int) -> list[list[str]]:
    """Choose ``count`` episodes of every planner, as varied as possible, and return the row keys of all robots in each episode.

    Each episode is taken from the stage from which the fewest episodes have been chosen so far. Failures and episodes that reached
    the goal alternate, starting with a failure.
    """
    queues = {planner: _episodes(rows, planner) for planner in dict.fromkeys(row["planner"] for row in rows)}
    places: dict[Any, int] = {row["stage"]: 0 for row in rows}
    ends, found = {True: 0, False: 0}, []
    for _ in range(count):
        for episodes in queues.values():
            if not episodes:
                continue
            best = min(episodes, key=lambda some: (places[some[0]["stage"]], ends[_any_failed(some)], not _any_failed(some)))
            episodes.remove(best)
            places[best[0]["stage"]] += 1
            ends[_any_failed(best)] += 1
            found.append([row["key"] for row in best])
    return found


def failures_to_film(rows: Sequence[Row]) -> list[list[str]]:
    """Return the row keys of all robots in each episode in which any robot did not reach its goal."""
    planners = dict.fromkeys(row["planner"] for row in rows)
    return [[row["key"] for row in some] for planner in planners for some in _episodes(rows, planner) if _any_failed(some)]


def _episodes(rows: Sequence[Row], planner: str) -> list[list[Row]]:
    """Return the rows of a planner by episode, in the order of stages and episodes."""
    found: dict[tuple[Any, Any], list[Row]] = {}
    for row in sorted((row for row in rows if row["planner"] == planner), key=lambda row: (row["episode"], row["robot"])):
        found.setdefault((row["stage"], row["episode"]), []).append(row)
    return list(found.values())


def _any_failed(rows: Sequence[Row]) -> bool:
    """Return whether any robot in an episode did not reach its goal."""
    return any(has_failed(row) for row in rows)


def titles(rows: Sequence[Row], blind: Collection[str] = ()) -> dict[str, str]:
    """Return the titles of episodes, by key of the row; a title includes the number of the robot if the episode has several robots.

    Args:
        rows: rows of the episodes.
        blind: labels of planners that do not see walls.
    """
    several = len({row.get("robot") for row in rows}) > 1
    return {
        row["key"]: title_of(
            row["planner"],
            row.get("suite", ""),
            row["stage"],
            row["episode"],
            row.get("seed"),
            row.get("robot") if several else None,
            blind=_planner_of(row) in blind,
        )
        for row in rows
    }


def failure_lines(
    run: Mapping[str, Any],
    rows: Sequence[Row],
    planners: Sequence[str],
    recordings: Mapping[str, Recording],
    reasons: Mapping[str, str] | None,
    colours: Mapping[str, str],
) -> dict[str, Any]:
    """Return one line per episode that did not reach the goal, one line per spoilt arrival, and the number of omitted episodes.

    Args:
        run: description of the run, as in `agora.reporting.page.render`.
        rows: rows of the run.
        planners: labels of the planners, in the order of their lines.
        recordings: episodes that can be replayed on the page, by key.
        reasons: descriptions of how episodes ended, by key; if None, taken from the recordings. Episodes without a reason are
            described using only their rows.
        colours: colours of outcomes, by name.
    """
    stages = list(dict.fromkeys(row["stage"] for row in rows))
    ordered = sorted(rows, key=lambda row: (planners.index(row["planner"]), stages.index(row["stage"]), row["episode"]))
    said = {key: why(recording).words for key, recording in recordings.items()} if reasons is None else reasons
    found: dict[str, Any] = {}
    for kind, chosen in (("failures", has_failed), ("spoilt", is_spoilt)):
        some = [row for row in ordered if chosen(row)]
        left = f"; the rows list {len(some) - MOST_FAILURES} more" if len(some) > MOST_FAILURES else ""
        found |= {kind: _lines(run, some[:MOST_FAILURES], recordings, said, colours), f"{kind}_left": left}
    return found


def _lines(
    run: Mapping[str, Any], rows: Sequence[Row], recordings: Collection[str], said: Mapping[str, str], colours: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the lines of given episodes."""
    lines = []
    for row in rows:
        key = row["key"]
        line: dict[str, Any] = {name: row.get(name, "") for name in ("planner", "stage", "episode", "seed", "key")}
        line |= {"outcome": row["outcome"].replace("_", " "), "colour": colours[row["outcome"]], "play": key in recordings}
        line["causes"] = ", ".join(causes_of(row))
        unread_by = unread_note(run.get("blind") or (), run.get("unaware") or (), _planner_of(row), row["outcome"])
        line["why"] = f"{said.get(key) or _from_row(row)}{unread_by}"
        folder, own = (run.get("places") or {}).get(key, (run.get("folder", "RUN"), key))
        episode = own if own.count("/") < 4 else own.rpartition("/")[0]
        line["command"] = f"agora play {folder} {shlex.quote(episode)}"
        lines.append(line)
    return lines


def unread_note(blind: Collection[str], unaware: Collection[str], planner: str, outcome: str) -> str:
    """Return a space and a sentence saying that a planner does not see the walls or people that it hit; empty if the planner sees
    them.

    Args:
        blind: labels of planners that do not see walls.
        unaware: labels of planners that do not see people.
        planner: label of the planner.
        outcome: label of the episode's outcome.
    """
    if outcome == "wall_collision" and planner in blind:
        return f" {planner} does not read walls."
    if outcome == "pedestrian_collision" and planner in unaware:
        return f" {planner} does not read pedestrians."
    return ""


def _planner_of(row: Row) -> str:
    """Return the label of a row's planner, without its level of perception."""
    return str(row["planner"]).split(" · ")[0]


def _from_row(row: Row) -> str:
    """Return the description of a failure, using only its row."""
    time, noted = row.get("duration"), (row.get("reason") or "").replace("_", " ")
    words = row.get("failure") or row["outcome"].replace("_", " ")
    if is_spoilt(row):
        words = f"reached the goal, but not clean: {', '.join(causes_of(row))}"
    said = [words if time is None else f"{time:.1f} s: {words}", _blame(row), f"The planner noted: {noted}" if noted else ""]
    return f"{'. '.join(part for part in said if part)}."


def _blame(row: Row) -> str:
    """Return a text that says who closed the gap and whether the robot could have avoided contact; empty unless the episode ended
    with a pedestrian collision.

    If the robot continued after contacts, the text is based on the number of contacts in the row.
    """
    counts = {closer.value: int(row.get(f"collisions_by_{closer.value}") or 0) for closer in Closer}
    total, could = sum(counts.values()), row.get("collisions_avoidable")
    if row["outcome"] != "pedestrian_collision" or not total:
        return ""
    closers = ", ".join(f"{closer} {count}" if total > 1 else closer for closer, count in counts.items() if count)
    if could is None:
        return f"Gap closed by {closers}"
    return f"Gap closed by {closers}, {({0: 'not ', total: ''}).get(int(could), f'{int(could)} of {total} ')}avoidable"
