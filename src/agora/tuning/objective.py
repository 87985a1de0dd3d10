"""The objective that tuning maximises: a metric, or a weighted sum of metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from agora.benchmark.results.store import Row
from agora.errors import InputError
from agora.registry import load

DEFAULT = "success + 0.2 * barn_score"
"""The default objective. Success comes first; the BARN challenge's score, at most 0.5, ranks parameter sets with the same success
rate. The score adds a tenth of a success for driving at 1 m/s along the shortest path, and nothing more for higher speeds. We also
tried the score alone: on the `planners` suite, `dwa_kinetic` then drove at 0.80 instead of 0.46 m/s and lost 15 of 100 successes.
"""

_TERM = re.compile(r"\s*([+-]?)\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*\*?\s*)?([A-Za-z_][\w.]*)\s*")


@dataclass(frozen=True)
class Objective:
    """A weighted sum of metrics; larger values are better.

    Attributes:
        text: text from which the objective was parsed, such as ``success`` or ``success - 0.05 * intimate_violations``.
        terms: weight and name of each metric.
    """

    text: str
    terms: tuple[tuple[float, str], ...]

    @staticmethod
    def of(text: str) -> Objective:
        """Parse an objective; a single metric for which lower is better is negated.

        Raises:
            InputError: the text is not a sum of metrics. UnknownNameError: a metric is unknown.
        """
        terms: list[tuple[float, str]] = []
        at = 0
        while at < len(text):
            found = _TERM.match(text, at)
            if found is None or (terms and not found[1]):
                raise InputError(f"objective {text!r}: expected metrics with weights, as in 'success - 0.05 * jerk_max'")
            terms.append((math.copysign(float(found[2] or 1.0), -1.0 if found[1] == "-" else 1.0), found[3]))
            at = found.end()
        directions = [load("metrics", name).direction for _, name in terms]
        if not terms:
            raise InputError("objective: expected a metric, got nothing")
        if directions == ["lower"] and terms[0][1] == text.strip():
            terms = [(-1.0, terms[0][1])]
        return Objective(text.strip(), tuple(terms))

    def of_row(self, row: Row) -> float:
        """Return the value of the objective for one row.

        Raises:
            InputError: a metric is undefined for the row, or missing from it.
        """
        values = {name: row.get(name) for _, name in self.terms}
        missing = [name for name, value in values.items() if value is None]
        if missing:
            raise InputError(
                f"objective {self.text!r}: {missing[0]} has no value for {row['key']}, which ended as {row['outcome']}; "
                "a metric that only some episodes have cannot be an objective: failures without a value would not be penalised"
            )
        return math.fsum(weight * float(values[name]) for weight, name in self.terms)  # type: ignore[arg-type]

    def mean(self, rows: Iterable[Row]) -> float:
        """Return the mean of the objective over rows; the mean does not depend on the order of the rows."""
        each = [self.of_row(row) for row in rows]
        return math.fsum(each) / len(each)
