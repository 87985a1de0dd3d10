"""The leaderboard page, which shows all entries in the given folders and works offline.

A table contains, and ranks, only entries of the same suite, suite version and seed that were run with the same version of Agora.
The numbers are computed from the entries' rows. An entry with inconsistent rows, or with rows that a check did not reproduce, is
listed with the reason and is not ranked.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agora import __version__
from agora.benchmark.results.copies import distinct
from agora.benchmark.results.store import Row
from agora.config import dump
from agora.core.recording import Recording
from agora.core.state import Array
from agora.errors import InputError, ResultsError
from agora.files import write_whole
from agora.interfaces import Metric
from agora.leaderboard.entry import CHECK, ENTRY, Check
from agora.leaderboard.entry_folder import PostedEntry, read_check, read_entry, read_replays
from agora.metrics.registered import metrics
from agora.reporting import tables
from agora.reporting.clean_arrivals import CLEAN, COLOURS, clean_share
from agora.reporting.headline import headline
from agora.reporting.page import ARROWS, rank_lines
from agora.share import checkout
from agora.tasks.suite import Suite, load_suite, suite_names, with_seed
from agora.viewer.replay import embed, replay_html, source, templates

__all__ = ["write"]

_LOG = logging.getLogger(__name__)

PEOPLE = {
    "truth": "the true states of pedestrians",
    "view": "pedestrians in its cone of view",
    "visible": "pedestrians in sight",
    "tracked": "tracks from its scans",
    "camera": "tracks from its camera",
    "none": "nothing",
}
"""Descriptions of the levels of perception."""

MAPS = {"map": "has it", "none": "has none"}


@dataclass(frozen=True)
class _Shown:
    """An entry as shown on the page.

    Attributes:
        name: name of the entry, with a number if several entries in a table have the same name.
        posted: the entry.
        check: result of the entry's check, if any.
        number: number of the entry on the page.
        wrong: reason why the entry is not ranked; empty if it is ranked.
    """

    name: str
    posted: PostedEntry
    check: Check | None
    number: int
    wrong: str = ""

    @property
    def rows(self) -> list[Row]:
        """The entry's rows, labelled with its name, with distinct keys."""
        return [{**row, "planner": self.name, "key": self.key(row)} for row in self.posted.rows]

    def key(self, row: Row) -> str:
        """Return a key for a row that is unique on the page, where two entries may have the same label."""
        return f"{self.number}/{row['key']}"

    @property
    def known(self) -> tuple[str, str, str]:
        """The values for the page's filters: pedestrians, map, and "checked" or "unchecked"."""
        knows = self.posted.entry.pins.knows
        return knows.pedestrians, knows.map, "checked" if self.check is not None else "unchecked"


def write(folders: Sequence[Path], path: Path, *, with_own: bool = True) -> Path:
    """Write the page with all entries in the given folders, at any depth, and return the page's path.

    Args:
        folders: folders to search.
        path: path of the page.
        with_own: whether to include the entries that come with Agora's source.

    Raises:
        InputError: a folder does not exist or contains no entry, or an entry is damaged. ResultsError: the page cannot be written.
    """
    own = own_entries() if with_own else None
    if not (own or folders):
        raise InputError("no folder with entries was given; the entries of Agora's own planners are only in the source repository")
    entries = [one for folder in [*([own] if own else []), *folders] for one in _entry_folders(folder)]
    page = render([read_entry(place) for place in dict.fromkeys(entries)])
    try:
        write_whole(path, page)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror or error}") from error
    return path


def own_entries() -> Path | None:
    """Return the folder with the entries of Agora's own planners, which is part of Agora's source; None in installations without
    the source.
    """
    root = checkout()
    return None if root is None else root / "docs" / "leaderboard"


def render(posted: Sequence[PostedEntry]) -> str:
    """Return the page with the given entries.

    Raises:
        InputError: there are no entries, or one of their files is damaged.
    """
    if not posted:
        raise InputError("no entries; create them with agora submit")
    groups: dict[tuple[Any, ...], list[PostedEntry]] = {}
    for one in sorted(posted, key=lambda one: (one.entry.suite.name, -one.entry.suite.version, one.entry.suite.seed)):
        drawn = one.entry.suite
        stages = tuple((name, part.episodes, part.seed) for name, part in drawn.stages.items())
        groups.setdefault((drawn.name, drawn.version, drawn.seed, stages, one.entry.pins.agora), []).append(one)
    numbers, wrong, replays = itertools.count(), list[_Shown](), dict[str, Recording]()
    now, then = list[dict[str, Any]](), list[dict[str, Any]]()
    for members in groups.values():
        shown = _name_entries(members, numbers)
        wrong += [one for one in shown if one.wrong]
        if ranked := [one for one in shown if not one.wrong]:
            suite = _current(ranked[0].posted)
            table = _table(ranked, suite, replays)
            (then if suite is None else now).append(table)
    every = [line for table in (*now, *then) for line in table["lines"]]
    page = {
        "lead": _lead(every, len({table["suite"] for table in (*now, *then)}), len(wrong)),
        "version": __version__,
        "now": now,
        "then": then,
        "suites": sorted({table["suite"] for table in (*now, *then)}),
        "wrong": [{**_details(one), "reason": one.wrong} for one in wrong],
        "people": {name: words for name, words in PEOPLE.items() if any(line["people"] == name for line in every)},
        "maps": {name: words for name, words in MAPS.items() if any(line["map"] == name for line in every)},
        "clean_colours": COLOURS,
        "outcome_key": [(name.replace("_", " "), colour) for name, colour in _colours(posted).items()],
        "ranks": embed([table["ranks"] for table in (*now, *then)]),
        "by_clean": any(table["ranks"][CLEAN.name] for table in (*now, *then)),
        "replay": replay_html(replays) if replays else "",
        "arrows": ARROWS,
        "css": source("page.css") + source("report.css") + source("leaderboard.css"),
        "script": source("report.js") + source("leaderboard.js"),
    }
    return templates().get_template("leaderboard.html").render(page)


def _entry_folders(folder: Path) -> list[Path]:
    """Return the entry folders in a folder."""
    if not folder.is_dir():
        raise InputError(f"{folder}: the folder does not exist")
    found = sorted(path.parent for path in folder.rglob(ENTRY))
    if not found:
        raise InputError(f"{folder}: contains no entry (a folder with {ENTRY})")
    return [path.resolve() for path in found]


def _name_entries(members: Sequence[PostedEntry], numbers: Iterable[int]) -> list[_Shown]:
    """Return the entries of one table, with distinct names and with their problems."""
    taken: set[str] = set()
    shown = []
    for one, number in zip(members, numbers, strict=False):
        mark = f" ({one.entry.after_draw})" if one.entry.after_draw else ""
        name = next(n for n in _names(" ".join(one.entry.name.split()) + mark) if n not in taken)
        taken.add(name)
        check = read_check(one)
        wrong = "; ".join(one.problems())
        if not wrong and check is not None and not check.agrees:
            wrong = f"was not reproduced by the check on {check.when}: "
            wrong += "; ".join(check.problems) or f"{len(check.differences)} values differ, the first being {check.differences[0]}"
        shown.append(_Shown(name, one, check, number, wrong))
    return shown


def _names(name: str) -> Iterable[str]:
    """Yield the name, then the name with increasing numbers."""
    return itertools.chain([name], (f"{name} ({k})" for k in itertools.count(2)))


def _current(posted: PostedEntry) -> Suite | None:
    """Return the entry's suite if the entry has the installed versions of the suite and of Agora; None otherwise."""
    drawn = posted.entry.suite
    if posted.entry.pins.agora != __version__ or drawn.name not in suite_names():
        return None
    suite = load_suite(drawn.name)
    if suite.version != drawn.version:
        return None
    try:
        return with_seed(suite, drawn.seed)
    except InputError:  # the suite no longer accepts this seed
        return None


def _table(shown: Sequence[_Shown], suite: Suite | None, replays: dict[str, Recording]) -> dict[str, Any]:
    """Return one table, sorted by decreasing fraction of goals reached. The entries' recordings are added to ``replays``.

    The page can also sort and rank the entries by clean arrivals.
    """
    ends = [(one, tables.share(one.rows).value or 0.0) for one in shown]
    shown = [one for one, _ in sorted(ends, key=lambda pair: -pair[1])]
    rows, names = distinct([row for one in shown for row in one.rows]), [one.name for one in shown]
    present, _ = tables.shown_metrics(rows, metrics())
    colours = tables.outcome_colours(tables.outcome_names(rows))
    head = headline(rows, present, names, colours, {key: calls for one in shown for key, calls in _calls(one).items()})
    drawn = shown[0].posted.entry.suite
    lines = []
    for one, line in zip(shown, head["lines"], strict=True):
        people, map_, checked = one.known
        played = _replays(one, suite)
        replays |= played
        plays = [(name, recording.outcome.label.replace("_", " ")) for name, recording in played.items()]
        shares = {"reached": tables.share(one.rows).value, CLEAN.name: clean_share(one.rows).value}
        about = {"people": people, "map": map_, "checked": checked, "plays": plays}
        lines.append({**line, **_details(one), **about, "shares": {name: value or 0.0 for name, value in shares.items()}})
    return {
        "suite": drawn.name,
        "version": drawn.version,
        "seed": drawn.seed,
        "agora": shown[0].posted.entry.pins.agora,
        "episodes": len(drawn.episodes),
        "stages": len(drawn.stages),
        "columns": head["columns"],
        "lines": lines,
        "ranks": {metric.name: _ranks(shown, rows, metric) for metric in (tables.REACHED, CLEAN)},
    }


def _ranks(shown: Sequence[_Shown], rows: Sequence[Row], metric: Metric) -> dict[str, dict[int, list[Any]]]:
    """For each choice of filters, rank the entries that pass by a metric. Return, by entry number, the text, the rank, the
    probability of being best in %, and the entries that are worse.

    A choice is left out if fewer than two entries with the metric pass.
    """
    known: dict[frozenset[str], dict[int, list[Any]]] = {}
    numbers, found = {one.name: one.number for one in shown}, {}
    for choice in itertools.product(("", *PEOPLE), ("", *MAPS), ("", "checked")):
        left = [one for one in shown if all(asked in ("", is_) for asked, is_ in zip(choice, one.known, strict=True))]
        names = frozenset(one.name for one in left)
        if len(names) < 2:
            continue
        if names not in known:
            ranked = rank_lines(rows, [one.name for one in left], metric)
            known[names] = {
                numbers[line["planner"]]: [line["ranks"], line["low"], round(100 * line["best"]), line["beats"]]
                for line in ranked.get("lines", ())
            }
        if known[names]:
            found["|".join(choice)] = known[names]
    return found


def _calls(one: _Shown) -> Mapping[str, Array]:
    """Return the mean planning times, s, keyed by the rows' keys on the page."""
    times = {one.key(row): row.get("planning_time") for row in one.posted.timing}
    return {key: np.array([value]) for key, value in times.items() if value is not None}


def _replays(one: _Shown, suite: Suite | None) -> dict[str, Recording]:
    """Return the entry's recordings, keyed by their names on the page, with maps if the suite is installed."""
    found, rows, drawn = {}, {row["key"]: row for row in one.posted.rows}, one.posted.entry.suite
    then = "" if suite is not None else f", version {drawn.version}, Agora {one.posted.entry.pins.agora}"
    for key, recording in read_replays(one.posted).items():
        stage, episode = rows[key]["stage"], rows[key]["episode"]
        name = f"{drawn.name} · {one.name} · {stage} {episode}, seed {drawn.seed}{then}"
        try:
            found[name] = recording if suite is None else replace(recording, map=suite.start(stage, episode).map)
        except InputError as error:
            _LOG.warning("%s is shown without its map: %s", name, error)
            found[name] = recording
    return found


def _details(one: _Shown) -> dict[str, Any]:
    """Return the details of an entry that the page shows in addition to the entry's numbers."""
    entry, check = one.posted.entry, one.check
    pins, label = entry.pins, entry.planner.label
    facts = {
        "Author": entry.author,
        "Description": entry.description,
        "Planner": label,
        "Declared as": pins.label,
        "Reads": ", ".join(pins.knows.channels),
        "Packages": ", ".join(f"{name} {version}" for name, version in pins.packages.items()),
        "Weights": ", ".join(f"{name} {digest}" for name, digest in pins.weights.items()),
        "Agora": f"{pins.agora}, commit {', '.join(dict.fromkeys(m.commit for m in entry.made_on))}",
        "Hardware": ", ".join(dict.fromkeys(f"{m.cpu}, {m.system}" for m in entry.made_on)),
        "Check": _check_in_words(check),
    }
    return {
        "number": one.number,
        "planner": one.name,
        "author": entry.author,
        "label": pins.label,
        "suite": entry.suite.name,
        "check": check,
        "checked_words": _check_in_words(check),
        "stale": check is None and (one.posted.folder / CHECK).is_file(),
        "facts": [(fact, words) for fact, words in facts.items() if words],
        "configuration": dump(entry.planner.configuration),
    }


def _check_in_words(check: Check | None) -> str:
    """Return a description of a check."""
    if check is None:
        return "not checked in its current state"
    return (
        f"the recorded commands of {check.driven} rows were executed again, and the planner ran {check.episodes} of {check.of} "
        f"episodes again, on {check.when} with Agora {check.agora}, commit {check.machine.commit}, on {check.machine.cpu}"
    )


def _colours(posted: Sequence[PostedEntry]) -> dict[str, str]:
    return tables.outcome_colours(tables.outcome_names([row for one in posted for row in one.rows]))


def _lead(lines: Sequence[Mapping[str, Any]], suites: int, wrong: int) -> str:
    """Return the sentence that states the number of entries."""
    checked = sum(line["checked"] == "checked" for line in lines)
    words = f"{len(lines)} entr{'y' if len(lines) == 1 else 'ies'} on {suites} suite{'' if suites == 1 else 's'}; {checked} checked"
    return f"{words}, and {wrong} not ranked." if wrong else f"{words}."
