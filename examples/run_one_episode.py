"""Run one episode: a robot among walking people, its outcome, its metrics and a picture."""

from pathlib import Path

from agora.episode import Conditions, Episodes
from agora.metrics.registered import metrics
from agora.registry import make
from agora.tasks.suite import load_suite
from agora.viewer.figures import save, trajectory_figure

suite = load_suite("demo")
stage = suite.stage("hall")
planner = make("planners", "pure_pursuit", speed=0.8)
[(_, [recording])] = Episodes([suite.start("hall", 3)], planner, Conditions.of(stage))

print(f"{recording.outcome.label} after {recording.time[-1]:.1f} s")
for metric in metrics():
    value = metric(recording)
    if value is not None:
        print(f"{metric.name:45s} {value:10.3f} {metric.unit}")
print("picture:", save(trajectory_figure(recording), Path("episode.png")))
