"""Success rates over friction, load, latency and slip: a table and a plot from runs of the suite floors.

agora bench floors -p orca -p teb -o results/floors
python benchmarks/floors.py results/floors --plot floors.png

Several folders are combined. Episodes are the same in every stage, so each episode is compared with itself on the dry floor: `lost`
counts goals reached only on the dry floor, `won` goals not reached there. A dash marks a stage that has not been completed.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.run_folder import RunFolder
from agora.core.recording import Outcome
from agora.reporting.statistics import bootstrap, wilson

Row = Mapping[str, Any]
DRY = "dry"
_REACHED, _TOUCHED = Outcome.REACHED.label, Outcome.PEDESTRIAN_COLLISION.label
PANELS = {"friction": "friction of the floor", "latency": "latency of the drive, s", "load": "mass over the file's", "slip": "slip"}
USUAL = {"friction": 1.0, "latency": 0.0, "load": 1.0, "slip": 0.0}


def main() -> None:
    """Print the tables, and draw the plot if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", help="folders of runs of the suite floors")
    parser.add_argument("--plot", type=Path, help="picture to write")
    arguments = parser.parse_args()
    stages: dict[str, Mapping[str, Any]] = {}
    rows: list[Row] = []
    for folder in arguments.folders:
        found = audit_run(folder)
        stages |= {stage["name"]: stage["simulator"] for stage in RunFolder.read(folder).record.suite["stages"]}
        open_ones = {(planner, stage) for planner, stage, _ in found.missing}
        rows += [row for row in found.rows if (row["planner"], row["stage"]) not in open_ones]
    planners = sorted({row["planner"] for row in rows})
    print(f"| planner | {' | '.join(f'`{stage}`' for stage in stages)} |\n|{'---|' * (1 + len(stages))}")
    for planner in planners:
        print(f"| `{planner}` | {' | '.join(_share(_of(rows, planner, stage)) for stage in stages)} |")
    print("\n| planner | stage | lost | won | hit person | here and dry: time | path |\n|---|---|---|---|---|---|---|")
    for planner in planners:
        for stage in [stage for stage in stages if stage != DRY and _of(rows, planner, stage)]:
            print(f"| `{planner}` | `{stage}` | {' | '.join(_beside(_of(rows, planner, DRY), _of(rows, planner, stage)))} |")
    if arguments.plot:
        draw(arguments.plot, stages, rows, planners)


def _of(rows: Sequence[Row], planner: str, stage: str) -> list[Row]:
    return sorted((row for row in rows if (row["planner"], row["stage"]) == (planner, stage)), key=lambda row: row["episode"])


def _reached(rows: Sequence[Row]) -> tuple[float, float, float]:
    count = sum(row["outcome"] == _REACHED for row in rows)
    return count / len(rows), *wilson(count, len(rows))


def _share(rows: Sequence[Row]) -> str:
    if not rows:
        return "-"
    share, low, high = _reached(rows)
    return f"{share:.2f} [{low:.2f}, {high:.2f}]"


def _beside(dry: Sequence[Row], here: Sequence[Row]) -> list[str]:
    """Return how the same episodes went on the dry floor and in this stage."""
    pairs = list(zip(dry, here, strict=True))
    lost = sum(one["outcome"] == _REACHED != other["outcome"] for one, other in pairs)
    won = sum(one["outcome"] != _REACHED == other["outcome"] for one, other in pairs)
    both = [pair for pair in pairs if pair[0]["outcome"] == pair[1]["outcome"] == _REACHED]
    touched = sum(row["outcome"] == _TOUCHED for row in here)
    return [str(lost), str(won), str(touched), _ratio(both, "time_to_goal"), _ratio(both, "path_length")]


def _ratio(pairs: Sequence[tuple[Row, Row]], metric: str) -> str:
    if len(pairs) < 2:
        return "-"
    found = bootstrap([other[metric] / one[metric] for one, other in pairs], "median")
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def draw(path: Path, stages: Mapping[str, Mapping[str, Any]], rows: Sequence[Row], planners: Sequence[str]) -> None:
    """Plot the share of episodes that reached the goal over each condition, with 95 % intervals."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    usual = {name: {key: simulator.get(key, value) for key, value in USUAL.items()} for name, simulator in stages.items()}
    panels = [key for key, value in USUAL.items() if sum(one[key] != value for one in usual.values()) > 1]
    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(4.2 * len(panels), 3.6), sharey=True, squeeze=False, layout="constrained"
    )
    for axis, key in zip(axes[0], panels, strict=True):
        values = {one[key]: name for name, one in usual.items() if name == DRY or one[key] != USUAL[key]}
        for number, planner in enumerate(planners):
            played = [(k, _of(rows, planner, values[value])) for k, value in enumerate(sorted(values))]
            found = [_reached(some) for _, some in played if some]
            places = [k + 0.06 * (number - len(planners) / 2) for k, some in played if some]
            spread = [[share - low for share, low, _ in found], [high - share for share, _, high in found]]
            axis.errorbar(
                places, [one[0] for one in found], spread, marker="o", markersize=4, linewidth=1.2, capsize=2, label=planner
            )
        axis.set_xticks(range(len(values)), [f"{value:g}" for value in sorted(values)])
        axis.set(xlabel=PANELS[key], ylim=(0.0, 1.03))
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("reached the goal")
    axes[0][-1].legend(loc="lower left", fontsize=8)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
