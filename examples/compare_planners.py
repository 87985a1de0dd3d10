"""Compare planners: the same episodes under each, success with its 95 % interval, and the folder that holds everything."""

from dataclasses import replace
from pathlib import Path

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.registry import Named
from agora.reporting.report import report
from agora.reporting.statistics import wilson
from agora.tasks.suite import load_suite

demo = load_suite("demo")
suite = replace(demo, name="two_places", stages=tuple(replace(demo.stage(name), episodes=4) for name in ("hall", "crossing")))
planners = {
    "pure_pursuit": Named.of("planners", "pure_pursuit"),
    "slower": Named.of("planners", "pure_pursuit", speed=0.5),
    "go_to_goal": Named.of("planners", "go_to_goal"),
}
folder = Path("results/two_places")
rows = run_all(Request(suite, planners, folder, Options(workers=0)))

for label in planners:
    mine = [row for row in rows if row["planner"] == label]
    won = sum(row["success"] == 1 for row in mine)
    low, high = wilson(won, len(mine))
    print(f"{label:14s} {won} of {len(mine)}, {low:.2f} to {high:.2f}")
print("report:", report(folder))
