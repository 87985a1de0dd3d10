"""Tables for papers, with one line per planner, one column per metric, and 95 % intervals.

For metrics that look better when a robot fails, only the episodes in which every planner reached the goal are used
(`agora.reporting.statistics.comparable`). As in the report, the best value is marked only if every planner has a value for each of
the same episodes and, for metrics that look better when a robot fails, reached the goal in all of these episodes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agora.benchmark.results.copies import copy_notes, distinct
from agora.benchmark.results.store import Row
from agora.errors import InputError
from agora.interfaces import Metric
from agora.metrics.registered import HEADLINE
from agora.registry import load
from agora.reporting import tables
from agora.reporting.clusters import ByPlace
from agora.reporting.statistics import RATE, Estimate, comparable, with_place_interval

__all__ = ["FORMATS", "PaperTable", "paper_table"]


@dataclass(frozen=True)
class Column:
    """A column of a table, which shows one metric.

    Attributes:
        metric: the metric.
        estimates: mean of each planner, with its interval, in the metric's unit.
        cells: estimates as text; fractions are in percent.
    """

    metric: Metric
    estimates: Sequence[Estimate]
    cells: Sequence[tables.Cell]

    @property
    def words(self) -> str:
        """The name of the metric, as shown in the table."""
        return HEADLINE.get(self.metric.name, self.metric.name.capitalize() if self.metric is tables.REACHED else self.metric.name)

    @property
    def unit(self) -> str:
        """The unit of the numbers in the cells."""
        return "%" if self.metric.unit == RATE else self.metric.unit


@dataclass(frozen=True)
class PaperTable:
    """A table for a paper, which can be written in several formats.

    Attributes:
        title: description of the run.
        planners: labels of the planners.
        episodes: number of rows per planner.
        columns: columns of the table, starting with the success rate.
        common: whether metrics that look better when a robot fails are computed only over the episodes in which every planner
            reached the goal.
        copied: one sentence per stage that contains copies of episodes, which are counted once.
    """

    title: str
    planners: Sequence[str]
    episodes: Sequence[int]
    columns: Sequence[Column]
    common: bool
    copied: Sequence[str] = ()

    def notes(self) -> list[str]:
        """The sentences that are printed below the table."""
        said = ["Means over episodes with 95 % intervals: Wilson's for shares, bootstrap for all others."]
        reached = [one.by_place for one in self.columns[0].estimates if one.by_place is not None and one.by_place.wider is not None]
        if reached:
            factors = sorted(one.wider or 0.0 for one in reached)
            said.append(
                f"Intervals of the first column by the bootstrap over {reached[0].places} places are "
                f"{' to '.join(dict.fromkeys(f'{end:.1f}' for end in (factors[0], factors[-1])))} times as wide."
            )
        flattered = [column for column in self.columns if column.metric.over == "reached"]
        of = _join_words([column.words for column in flattered])
        if flattered and self.common and len(self.planners) > 1:
            counts = dict.fromkeys(max(estimate.n for estimate in column.estimates) for column in flattered)
            said.append(f"{of}: of the {_join_words(map(str, counts))} episodes that every planner reached.")
        elif flattered:
            said.append(f"{of}: of each planner's own episodes that have a value.")
        if any(cell.best for column in self.columns for cell in column.cells):
            said.append("Bold: the best mean.")
            if flattered and not any(cell.best for column in flattered for cell in column.cells):
                said.append(f"No mean is bold among {of}: a planner failed.")
        return [*said, *self.copied]

    def markdown(self) -> str:
        """Return the table in Markdown."""
        heads = [
            f"{column.words}{f' ({column.unit})' if column.unit else ''}{_UP[column.metric.direction]}" for column in self.columns
        ]
        lines = [["planner", "n", *(head.replace("|", "\\|") for head in heads)], ["---", *["---:"] * (1 + len(heads))]]
        for k, planner in enumerate(self.planners):
            label = f"`{planner}`".replace("|", "\\|")
            cells = [_plain(column.cells[k], "**{}**", "{}") for column in self.columns]
            lines.append([label, str(self.episodes[k]), *cells])
        body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"{self.title}\n\n{body}\n\n{' '.join(self.notes())}\n"

    def latex(self) -> str:
        """Return the table in LaTeX for the packages booktabs and graphicx, with the intervals below the numbers.

        A table that is wider than the text width is scaled down.
        """
        heads = [_tex_stack(column.words) for column in self.columns]
        units = [
            " ".join(filter(None, (f"[{_tex_unit(column.unit)}]" if column.unit else "", _TEX_UP[column.metric.direction])))
            for column in self.columns
        ]
        lines = [_tex_line("planner", "$n$", *heads), _tex_line("", "", *units), "\\midrule"]
        for k, planner in enumerate(self.planners):
            numbers = [_tex_number(column.cells[k]) for column in self.columns]
            intervals = [_tex_interval(column.cells[k]) for column in self.columns]
            lines += ["\\addlinespace"] * bool(k)
            lines += [_tex_line(_tex(planner), str(self.episodes[k]), *numbers), _tex_line("", "", *intervals)]
        body = "\n".join(f"    {line}" for line in lines)
        caption = _tex(" ".join([f"{self.title}.", *self.notes()]))
        return (
            "% \\usepackage{booktabs,graphicx}\n\\begin{table}\n  \\centering\n"
            f"  \\caption{{{caption}}}\n  \\smallskip\n"
            f"  {_TEX_FIT}{{\\begin{{tabular}}{{l{'r' * (1 + len(self.columns))}}}\n    \\toprule\n{body}\n    \\bottomrule\n"
            "  \\end{tabular}}\n\\end{table}\n"
        )

    def csv(self) -> str:
        """Return one line per planner and metric, with unrounded numbers; fractions range from 0 to 1."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        places = ["places", "low_by_place", "high_by_place", "wider_by_place"]
        writer.writerow(["planner", "metric", "unit", "better", "episodes", "n", "value", "low", "high", "best", *places])
        for k, planner in enumerate(self.planners):
            for column in self.columns:
                one, metric = column.estimates[k], column.metric
                told = [planner, metric.name, metric.unit, metric.direction, self.episodes[k], one.n]
                numbers, best = map(_number, (one.value, one.low, one.high)), str(column.cells[k].best).lower()
                place = one.by_place or ByPlace(0)
                ends = map(_number, (place.low, place.high, place.wider))
                writer.writerow([*told, *numbers, best, place.places or "", *ends])
        return out.getvalue()


FORMATS = {"latex": PaperTable.latex, "csv": PaperTable.csv, "markdown": PaperTable.markdown}
"""The formats of a table."""


def paper_table(
    rows: Sequence[Row], planners: Sequence[str], title: str, metrics: Sequence[str] = (), *, common: bool = True
) -> PaperTable:
    """Return a table of planners and metrics.

    Args:
        rows: rows of results, with the labels of the planners.
        planners: labels of planners, in the order of the lines.
        title: description of the run, as text.
        metrics: names of metrics; if empty, those metrics at the top of the report that have values.
        common: whether metrics that look better when a robot fails are computed only over the episodes in which every planner
            reached the goal, or over all episodes of each planner.

    Raises:
        InputError: there are no rows, or no row has a value of a metric. UnknownNameError: a metric is unknown.
    """
    if not rows:
        raise InputError("no rows for a table")
    said, rows = copy_notes(rows), distinct(rows)
    marked = [{**row, tables.REACHED.name: float(row["outcome"] == "reached")} for row in rows]
    known = {metric.name for metric in tables.shown_metrics(rows, [load("metrics", name) for name in metrics or HEADLINE])[0]}
    for name in metrics:
        if name not in known and name != tables.REACHED.name:
            raise InputError(f"metric {name}: no row has a value for it")
    chosen = [load("metrics", name) for name in metrics or HEADLINE if name in known and name != tables.REACHED.name]
    columns = [_column(marked, metric, planners, common) for metric in (tables.REACHED, *chosen)]
    counts = [len(members) for members in tables.by_planner(rows, planners).values()]
    return PaperTable(title, list(planners), counts, columns, common, said)


def _column(rows: Sequence[Row], metric: Metric, planners: Sequence[str], common: bool) -> Column:
    counted = comparable(rows, metric) if common else rows
    found = tables.summaries(counted, [metric])
    (line,), (whole,) = (tables.metric_lines(some, [metric], planners) for some in (counted, rows))
    estimates = [found.get((metric.name, planner), Estimate(0, None, None, None)) for planner in planners]
    members = tables.by_planner(distinct(counted), planners)
    estimates = [with_place_interval(one, members[planner], metric.name) for one, planner in zip(estimates, planners, strict=True)]
    return Column(metric, estimates, [replace(cell, best=one.best) for cell, one in zip(line.cells, whole.cells, strict=True)])


_UP = {"higher": " ↑", "lower": " ↓", "neutral": ""}
_TEX_UP = {"higher": "$\\uparrow$", "lower": "$\\downarrow$", "neutral": ""}
_TEX_FIT = "\\resizebox{\\ifdim\\width>\\linewidth \\linewidth\\else\\width\\fi}{!}"
_TEX_SIGNS = {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "|": "\\textbar{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "·": "\\textperiodcentered{}",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}


def _number(value: float | None) -> str:
    """Return an unrounded number as text; empty for None."""
    return "" if value is None else repr(float(value))


def _plain(cell: tables.Cell, best: str, other: str) -> str:
    """Return a cell's number and interval as plain text."""
    if cell.value is None:
        return "—"
    return " ".join(filter(None, ((best if cell.best else other).format(cell.value), cell.interval)))


def _tex(text: str) -> str:
    """Return a text with LaTeX's special characters escaped."""
    return "".join(_TEX_SIGNS.get(sign, sign) for sign in text).replace(" \\%", "~\\%")


def _tex_stack(text: str) -> str:
    """Return a column heading in two lines of about the same length."""
    words = text.split()
    if len(words) == 1:
        return _tex(text)
    halves = [(" ".join(words[:k]), " ".join(words[k:])) for k in range(1, len(words))]
    first, second = min(halves, key=lambda half: max(map(len, half)))
    return f"\\shortstack[r]{{{_tex(first)} \\\\ {_tex(second)}}}"


def _tex_line(first: str, *others: str) -> str:
    """Return a line of a table. The end of the line is protected, because LaTeX would otherwise read a bracket or star that follows
    as part of the line.
    """
    return f"{f'{{{first}}}' if first[:1] in ('[', '*') else first} & {' & '.join(others)} \\\\"


def _tex_unit(unit: str) -> str:
    """Return a unit in which exponents, such as the 3 in m/s3, are superscripts."""
    return re.sub(r"(?<=[A-Za-z])(\d)", r"$^{\1}$", _tex(unit))


def _tex_number(cell: tables.Cell) -> str:
    if cell.value is None:
        return "--"
    number = cell.value.replace("-", "$-$")
    return f"\\textbf{{{number}}}" if cell.best else number


def _tex_interval(cell: tables.Cell) -> str:
    return f"{{\\scriptsize ${cell.interval}$}}" if cell.interval else ""


def _join_words(words: Iterable[str]) -> str:
    some = list(words)
    return " and ".join([", ".join(some[:-1]), some[-1]] if len(some) > 1 else some)
