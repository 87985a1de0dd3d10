"""The metrics of an episode on the command line: the nine default metrics, named metrics, or all metrics. Modules are imported
only when a command runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agora.interfaces import Metric

__all__ = ["MORE", "All", "Named", "lines", "measures"]

Named = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", help="A metric to print instead of the nine default ones; repeat the option for several."),
]
All = Annotated[bool, typer.Option("--all", help="Print all metrics.")]

MORE = "  for more metrics: --all, or --metric NAME (see agora list metrics)"
"""Line that is printed below the default metrics."""


def measures(names: Sequence[str], every: bool) -> list[Metric]:
    """Return the metrics to print."""
    from agora.errors import InputError
    from agora.metrics.registered import FEW, metrics
    from agora.registry import load

    if names and every:
        raise InputError("--all cannot be combined with --metric, because --all prints all metrics")
    return metrics() if every else [load("metrics", name) for name in names or FEW]


def lines(shown: Sequence[Metric], value_of: Callable[[Metric], float | None]) -> Iterator[str]:
    """Yield a line for each metric, with its value or the reason why its code failed."""
    from agora.errors import ComponentError

    width = max((len(measure.name) for measure in shown), default=0)
    for measure in shown:
        try:
            value = value_of(measure)
        except ComponentError as error:
            yield f"  {error}"
            continue
        yield f"  {measure.name:{width}s} {'-' if value is None else f'{value:.4g}':>10s} {measure.unit}".rstrip()
