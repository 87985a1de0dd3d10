"""Show that planners give the same results as at another commit, and accept their measurements.

python docs/measurements/same_rows.py COMMIT                         # every planner and preset, 24 episodes of the edition
python docs/measurements/same_rows.py COMMIT --planner teb --accept  # and record that the values of teb still hold

The digest of a planner covers its code, so renaming a function makes its values stale. This program drives the first episodes of
each stage with the code of the commit and with this code, and compares every column of every row to the last digit.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from measurements.catalogue import ROOT  # noqa: E402
from measurements.freshness import freshness  # noqa: E402

from agora.benchmark.provenance.planner_code import digest_of  # noqa: E402
from agora.benchmark.results.store import read_rows  # noqa: E402
from agora.planners.presets import named_planner  # noqa: E402
from agora.tasks.suite import load_suite  # noqa: E402

EDITION = "social@2026.12"
SCRATCH = ROOT / "build" / "same_rows"
TIMES = re.compile("planning_time|wall|when|digest")
"""Columns that differ between two runs of the same code."""


def installed(name: str, source: Path) -> Path:
    """Install a source tree, without its dependencies, into a separate folder, and return the folder."""
    target = SCRATCH / name
    command = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--upgrade"]
    subprocess.run([sys.executable, *command, "--target", str(target), str(source)], check=True)
    return target


def rows_of(code: Path, planners: Sequence[str], episodes: int) -> dict[str, dict[str, Any]]:
    """Return the rows of some planners, keyed by row key, run with the code in a folder."""
    output = SCRATCH / f"{code.name}_rows"
    chosen = [part for planner in planners for part in ("--planner", planner)]
    arguments = ["bench", EDITION, *chosen, "--episodes", str(episodes), "--no-control", "--output", str(output)]
    arguments += ["--resume"] if output.exists() else []
    subprocess.run(
        [sys.executable, "-c", "import sys; from agora.cli.app import main; sys.exit(main())", *arguments],
        env=os.environ | {"PYTHONPATH": str(code)},
        check=True,
    )
    return {row["key"]: row for row in read_rows(output / "episodes")}


def differences(old: dict[str, dict[str, Any]], new: dict[str, dict[str, Any]], planner: str) -> list[str]:
    """Return the keys of a planner's rows that differ, with the differing columns."""
    found = []
    for key in sorted(key for key in old.keys() | new.keys() if (old.get(key) or new[key])["planner"] == planner):
        before, after = old.get(key, {}), new.get(key, {})
        names = [name for name in before.keys() & after.keys() if not TIMES.search(name)]
        columns = [name for name in names if repr(before[name]) != repr(after[name])]
        if columns or not before or not after:
            found.append(f"{key}: {', '.join(columns) or 'only one of the two has it'}")
    return found


def accept(planners: Iterable[str]) -> None:
    """Record that measurements are still valid if only their planner has changed, and store the new digests of the planners in the
    edition.
    """
    same = set(planners)
    changed = [one for one in freshness().values() if one.changed == ("planner",)]
    held = " or ".join(one.measurement.name for one in changed if one.measurement.key in same)
    if held:
        command = ["-m", "pytask", "lock", "accept", "--yes", "-k", held, str(HERE / "task_measure.py")]
        subprocess.run([sys.executable, *command], check=True)
    path = ROOT / "configs" / "benchmark" / f"{EDITION}.yaml"
    text, drawn = path.read_text(encoding="utf-8"), load_suite(EDITION).edition
    assert drawn is not None
    for name in same & drawn.planners.keys():
        text = re.sub(rf"(?<=[{{ ]){re.escape(name)}: {drawn.planners[name]}", f"{name}: {digest_of(named_planner(name)[1])}", text)
    path.write_text(text, encoding="utf-8")


def main() -> int:
    """Print each planner with its number of equal rows, and the rows that differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--planner", action="append", metavar="NAME", help="may be repeated; all of the edition by default")
    parser.add_argument("--episodes", type=int, default=2, help="number of episodes of each stage")
    parser.add_argument("--accept", action="store_true", help="accept the measurements of planners without a difference")
    arguments = parser.parse_args()
    drawn = load_suite(EDITION).edition
    assert drawn is not None
    planners = arguments.planner or sorted(drawn.planners)
    base = SCRATCH / "base"
    if not base.exists():
        subprocess.run(["git", "worktree", "add", "--detach", str(base), arguments.commit], cwd=ROOT, check=True)
    old = rows_of(installed("old", base), planners, arguments.episodes)
    new = rows_of(installed("new", ROOT), planners, arguments.episodes)
    same = []
    for planner in planners:
        found = differences(old, new, planner)
        count = sum(row["planner"] == planner for row in new.values())
        print(f"{planner:32} {count - len(found)} of {count} rows are equal")
        print("".join(f"  {line}\n" for line in found), end="")
        same += [planner] if count and not found else []
    if arguments.accept:
        accept(same)
    return int(len(same) < len(planners))


if __name__ == "__main__":
    sys.exit(main())
