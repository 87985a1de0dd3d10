"""Generates the tables of an edition: ranks, pairs of planners, and goals by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from episodes import by_stage, ranked, read_episodes
from rows import interval, labelled, measured, share, table

from agora.benchmark.informed import INFORMED
from agora.reporting.ranking import Pair, Ranked


def edition(suite: str, name: str) -> str:
    """Return the tables of an edition: its planners with their ranks, the pairs of the first ten, and the goals by stage."""
    rows = sorted(measured(name), key=lambda row: -float(row["success"]))
    ends = [row for row in read_episodes(name) if row["planner"] != INFORMED]
    ranks, pairs = ranked(ends, "success")
    return "\n".join(
        [
            _edition_ranks(suite, rows, {one.planner: one for one in ranks}),
            _ceiling(read_episodes(name)),
            "### Pairs of the first ten planners\n",
            "Each cell shows how many goals only the planner in the row reached : how many only the planner in the column "
            "reached. Bold: the difference is significant.\n",
            _edition_pairs([one.planner for one in ranks[:10]], pairs, len(rows) and int(rows[0]["episodes"])),
            "### Goals by stage\n",
            _edition_stages([one.planner for one in ranks], ends),
        ]
    )


def _edition_ranks(suite: str, rows: Sequence[dict[str, str]], ranks: Mapping[str, Ranked]) -> str:
    """Return the planners of an edition with their ranks in the edition and, among the same planners, on the suite."""
    there = {row["planner"] for row in rows}
    old = sorted((row for row in measured(suite) if row["planner"] in there), key=lambda row: -float(row["success"]))
    before = {row["planner"]: f"{rank}: {share(row, 'success')}" for rank, row in enumerate(old, 1)}
    head = [
        "rank [95 %]",
        "planner",
        "reached",
        "better than",
        "reached clean",
        "most often spoilt by",
        "hit a person",
        "a wall",
        "time-out",
        "time (s)",
        f"rank and reached on `{suite}`",
    ]
    lines = []
    for number, row in enumerate(rows, 1):
        rank = ranks[row["planner"]]
        reached, clean = (share(row, one) for one in ("success", "clean_arrival"))
        ends = [f"{100 * float(row[one]):.0f} %" for one in ("pedestrian_collision", "wall_collision", "timeout")]
        last = [interval(row, "time_to_goal"), before.get(row["planner"], "not measured")]
        place, cause = f"{number} [{rank.low}, {rank.high}]", row["clean_arrival_spoilt_by"] or "nothing"
        lines.append([place, labelled(row), reached, str(len(rank.beats)), clean, cause, *ends, *last])
    return table(head, lines)


def _ceiling(rows: Sequence[dict[str, Any]]) -> str:
    """Return a sentence about the informed robot on an edition, if it was run on it."""
    own = [row for row in rows if row["planner"] == INFORMED]
    if not own:
        return ""
    reached, clean = (sum(int(row[one]) for row in own) for one in ("success", "clean_arrival"))
    return f"The informed robot, which knows the future, reaches {reached} of {len(own)} goals, {clean} of them clean.\n"


def _edition_pairs(planners: Sequence[str], pairs: Sequence[Pair], episodes: int) -> str:
    """Return the table of pairs of planners; the planner in the row has the better rank."""
    lines = []
    for first in planners[:-1]:
        found = {pair.second: pair for pair in pairs if pair.first == first}
        cells = []
        for second in planners[1:]:
            pair = found.get(second)
            score = "" if pair is None else f"{pair.wins * episodes:.0f} : {pair.losses * episodes:.0f}"
            cells.append(f"**{score}**" if pair is not None and pair.apart else score)
        lines.append([f"`{first}`", *cells])
    return table(["", *(f"`{name}`" for name in planners[1:])], lines)


def _edition_stages(planners: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    """Return the table with the number of goals that each planner reached in each stage."""
    found = by_stage(rows)
    lines = [[f"`{name}`", *(str(found[stage][name]) for stage in found)] for name in planners]
    return table(["planner", *(f"`{stage}`" for stage in found)], lines)
