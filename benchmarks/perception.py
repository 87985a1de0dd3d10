"""Measures the quality of tracks from scans against the ground truth, and their cost: the table in docs/reference/perception.md."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace

import numpy as np

from agora.episode import Batch, Conditions
from agora.optics.lidar import Lidar
from agora.perception.perception import Perception, ScanTracker
from agora.perception.scores import Scores
from agora.planners.adapters import call
from agora.planners.local.orca import OrcaPlanner
from agora.tasks.suite import load_suite

LIDARS = {
    "exact": Lidar(beams=360, range_max=15.0),
    "noise 0.03 m": Lidar(beams=360, range_max=15.0, noise=0.03),
    "legs": Lidar(beams=720, range_max=15.0, legs=True),
}

TRACKED = Perception("tracked")


def played(stage: str, lidar: Lidar, episodes: int, seconds: float, perception: Perception = TRACKED) -> Scores:
    """Return the scores of all robots' tracks over the first seconds of a stage's episodes."""
    suite = load_suite("density")
    conditions = replace(Conditions.of(suite.stage(stage)), lidar=lidar, perception=perception)
    starts = [suite.start(stage, k) for k in range(episodes)]
    planner, memory = OrcaPlanner(), {}
    batch = Batch(starts, conditions, {*planner.declares.needs, "scan"}, episodes)
    visible = Batch(starts, replace(conditions, perception=Perception("visible")), {*planner.declares.needs, "scan"}, episodes)
    scores = [Scores() for _ in starts]
    for number in range(episodes):
        batch.begin(number, number)
        visible.begin(number, number)
    for _ in range(round(seconds / conditions.periods.control)):
        for each in (batch, visible):
            each.look()
        seen, truth, active = batch.observer.observe(), visible.observer.observe().pedestrians, batch.active
        tracks, everybody, ids = seen.pedestrians, batch.world.pedestrians, batch.world.traits.id
        for n in np.flatnonzero(active):
            here, kept = everybody.active[n], tracks.present[n]
            place = np.stack([everybody.x[n], everybody.y[n]], -1)[here]
            velocity = np.stack([everybody.vx[n], everybody.vy[n]], -1)[here]
            told = (tracks.id[n][kept], tracks.position[n][kept], tracks.velocity[n][kept])
            scores[n].add(ids[n][here], place, velocity, truth.present[n][here], *told)
        answer, failures = call(planner, seen, memory, active)
        memory = answer.memory
        for each in (batch, visible):
            each.world.command(answer.twists, active, failures)
            each.advance()
    return together(scores)


def together(scores: list[Scores]) -> Scores:
    """Return the sum of several scores."""
    total = Scores()
    for name in ("people", "found", "tracks", "false", "switches"):
        setattr(total, name, sum(getattr(one, name) for one in scores))
    total.place_errors = [error for one in scores for error in one.place_errors]
    total.velocity_errors = [error for one in scores for error in one.velocity_errors]
    return total


def timed(people: int, rows: int, beams: int = 360, repeats: int = 60) -> tuple[float, float]:
    """Return the median and 95th percentile of the processor time of detector and tracker for one robot and scan, s."""
    from agora.core import state
    from agora.maps.grid import Map
    from agora.maps.store import build_store

    rng, lidar = np.random.default_rng(1), Lidar(beams=beams, range_max=10.0, noise=0.01)
    slots = state.padded_slots(people)
    crowd, traits = state.pedestrians(rows, slots), state.traits(rows, slots)
    robots, robot_traits = state.robots(rows, 1), state.robot_traits(rows, 1)
    maps = build_store([Map.open((-9.0, -9.0), (9.0, 9.0))], np.zeros(rows, np.int32))
    for w in range(rows):
        place: list[np.ndarray] = []
        while len(place) < people:
            new = rng.uniform(-5.0, 5.0, 2)
            if np.hypot(*new) > 0.8 and all(np.hypot(*(new - other)) > 0.65 for other in place):
                place.append(new)
        crowd.x[w, :people], crowd.y[w, :people] = np.array(place).T
        crowd.vx[w, :people], crowd.vy[w, :people] = rng.uniform(-0.9, 0.9, (2, people))
    crowd.active[:, :people], traits.count[:], robots.active[:] = True, people, True
    out = np.zeros((rows, 1, beams), np.float32)
    scan = lidar.bind(crowd, traits, robots, robot_traits, maps, out)
    tracker, times = ScanTracker(lidar, TRACKED, rows, maps), []
    pose = np.zeros((rows, 3), np.float32)
    for k in range(repeats):
        scan(0, rows)
        lidar.perturb(np.arange(rows, dtype=np.uint64), np.full(rows, k, np.int32), out)
        began = time.thread_time()
        tracker.see(out[:, 0], pose, 0.1)
        times.append((time.thread_time() - began) / rows)
        crowd.x[...] += np.float32(0.1) * crowd.vx * (1 if k // 10 % 2 else -1)
        crowd.y[...] += np.float32(0.1) * crowd.vy * (1 if k // 10 % 2 else -1)
    return float(np.median(times[5:])), float(np.percentile(times[5:], 95))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    for rows in (1, 64):
        median, late = timed(20, rows)
        print(
            f"detector and tracker, 360 beams, 20 pedestrians, {rows:2} rows: {1e3 * median:.3f} ms a robot (p95 {1e3 * late:.3f})"
        )
    print(f"load {os.getloadavg()[0]:.1f}\n")
    head = ("persons", "precision", "recall", "switches", "MOTA")
    print(f"{'lidar':14} {'stage':10} {head[0]:>8} {head[1]:>9} {head[2]:>7} {head[3]:>9} {head[4]:>6}  place, velocity: p50/p95")
    for name, lidar in LIDARS.items():
        for stage in ("people_5", "people_15", "people_25"):
            s = played(stage, lidar, options.episodes, options.seconds)
            errors = [np.percentile(e, p) for e in (s.place_errors, s.velocity_errors) for p in (50, 95)]
            words = "{:.3f}/{:.3f} m, {:.2f}/{:.2f} m/s".format(*errors)
            per = 1000.0 * s.switches / max(s.people, 1)
            print(
                f"{name:14} {stage:10} {s.people:8} {s.precision:9.3f} {s.recall:7.3f} {per:6.1f}e-3 {s.accuracy:6.3f}  {words}",
                flush=True,
            )


if __name__ == "__main__":
    main()
