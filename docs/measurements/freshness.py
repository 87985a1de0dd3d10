"""List the measurements in the manual that are stale or missing, and repeat some of them.

python docs/measurements/freshness.py                       # tables: how many are fresh, stale, missing, and why
python docs/measurements/freshness.py social_2026_12        # each measurement of a table
python docs/measurements/freshness.py --make social_2026_12[teb] limits_door
"""

from __future__ import annotations

import argparse
import functools
import io
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pytask  # noqa: E402
from measurements.catalogue import Measurement, catalogue  # noqa: E402

State = Literal["fresh", "stale", "missing"]


@dataclass(frozen=True)
class Freshness:
    """State of a measurement.

    Attributes:
        measurement: the measurement.
        state: fresh, stale or missing.
        changed: dependencies that have changed since it was made; empty if they were not recorded at that time.
    """

    measurement: Measurement
    state: State
    changed: tuple[str, ...] = ()


@functools.cache
def freshness() -> dict[str, Freshness]:
    """Return the state of each measurement, keyed by name."""
    with redirect_stdout(io.StringIO()) as said:
        session = pytask.build(paths=[HERE / "task_measure.py"], dry_run=True, explain=True)
    if session.exit_code != 0:
        raise SystemExit(said.getvalue())
    reasons = {}
    for report in session.execution_reports:
        explanation = report.task.attributes.get("explanation")
        changed = [reason.node_name for reason in explanation.reasons if reason.reason == "changed"] if explanation else []
        unchanged = report.outcome == pytask.TaskOutcome.SKIP_UNCHANGED
        reasons[report.task.name.rpartition("::")[2]] = (unchanged, tuple(sorted(changed)))
    found = {}
    for one in catalogue():
        unchanged, changed = reasons[one.name]
        found[one.name] = Freshness(one, "missing" if not one.measured else "fresh" if unchanged else "stale", changed)
    return found


def chosen(names: Iterable[str]) -> list[Freshness]:
    """Return the measurements selected by names of tables, measurements or planners; all measurements if there are no names.

    Raises:
        SystemExit: a name does not match any measurement.
    """
    every = list(freshness().values())
    wanted = [name.casefold() for name in names]
    for name in wanted:
        if not any(name in _names(one.measurement) for one in every):
            tables = sorted({one.measurement.task for one in every})
            raise SystemExit(f"no measurement is called {name}; the tables are {', '.join(tables)}")
    return [one for one in every if not wanted or _names(one.measurement) & {*wanted}]


def _names(one: Measurement) -> set[str]:
    return {name.casefold() for name in (one.task, one.table, one.key, one.name)}


def table_lines(states: Iterable[Freshness]) -> list[str]:
    """Return a line per table: the number of fresh, stale and missing measurements, and the changed dependencies."""
    tables: dict[str, list[Freshness]] = {}
    for one in states:
        tables.setdefault(one.measurement.task, []).append(one)
    lines = [f"{'table':28} {'fresh':>5} {'stale':>5} {'missing':>7}  changed since"]
    for name, ones in tables.items():
        counts = Counter(one.state for one in ones)
        stale = [one.changed or ("not recorded",) for one in ones if one.state == "stale"]
        causes = Counter(cause for changed in stale for cause in changed)
        why = ", ".join(f"{cause} ({number})" for cause, number in causes.most_common())
        lines.append(f"{name:28} {counts['fresh']:5} {counts['stale']:5} {counts['missing']:7}  {why}")
    return lines


def measurement_lines(states: Iterable[Freshness]) -> list[str]:
    """Return a line per measurement: its state and the changed dependencies."""
    return [f"{one.state:8} {one.measurement.name:44} {', '.join(one.changed)}".rstrip() for one in states]


def make(states: Iterable[Freshness]) -> int:
    """Make stale and missing measurements, and return the exit code of pytask.

    Each measurement is recorded as soon as its values are in the manual, so repeating an interrupted call continues where it
    stopped.
    """
    left = [one.measurement.name for one in states if one.state != "fresh"]
    if not left:
        return 0
    # In a process of its own, because pytask collects a file only once per process.
    command = [sys.executable, "-m", "pytask", "build", "-s", "-k", " or ".join(left), str(HERE / "task_measure.py")]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])  # for agora and python
    return subprocess.run(command, env=os.environ | {"PATH": path}, check=False).returncode


def main() -> int:
    """Print or make the requested measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a table, a planner or a measurement; all if none is given")
    parser.add_argument("--make", action="store_true", help="make those again that are stale or missing")
    arguments = parser.parse_args()
    states = chosen(arguments.names)
    if arguments.make:
        return make(states)
    print("\n".join(measurement_lines(states) if arguments.names else table_lines(states)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
