"""Write a page that plays episodes in a browser: one file, no network."""

from pathlib import Path

from agora.episode import Conditions, Episodes
from agora.registry import make
from agora.tasks.suite import load_suite
from agora.viewer.replay import write_replay

suite = load_suite("demo")
starts = [suite.start("doorway", k) for k in range(3)]
episodes = Episodes(starts, make("planners", "pure_pursuit"), Conditions.of(suite.stage("doorway")))
recordings = {starts[k].entry: recording for k, [recording] in episodes}
print("replay:", write_replay(Path("replay.html"), recordings, title="Three passages through a door"))
