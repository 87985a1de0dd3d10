"""Compares detectors of people in images with the ground truth: a table in docs/reference/perception.md.

``python benchmarks/people_in_images.py``. The robots in a suite's stages are driven by ORCA, which knows the true positions of all
people. Five times per second their camera (640 x 480 px) takes a frame, each detector processes it, and a tracker follows the
detections using the depth image, which has structured-light noise. Times are processor times on one thread. The program needs the
extras images and mujoco.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from agora.channels.camera import Camera
from agora.core.state import Array
from agora.episode import WORLD, Conditions, Episodes
from agora.perception.hog import HogDetector
from agora.perception.image_tracker import ImageTracker, Locator
from agora.perception.images import FindsPeople, ImageDetector
from agora.perception.scores import Scores, true_boxes, whose
from agora.registry import make
from agora.rendering.noise import NOISES
from agora.rendering.scene import CLASSES
from agora.rendering.studio import Studio
from agora.rendering.view import Eye
from agora.share import named_file
from agora.tasks.suite import load_suite

CAMERA = Camera(width=640, height=480)
PERIOD = 0.2  # s
LEAST = 400  # px, visible area from which a person counts as one to be found
BANDS = ((0.0, 3.0), (3.0, 6.0), (6.0, 10.0))
DETECTORS: dict[str, Callable[[], FindsPeople]] = {
    "HOG": HogDetector,
    "trained on rendered people": lambda: ImageDetector(named_file("perception", "rendered_people", ".onnx")),
}


@dataclass(frozen=True)
class Frame:
    """What a robot sees at one time, with the ground truth.

    Attributes:
        rgb: (rows, columns, 3) uint8.
        depth: (rows, columns) m, with noise.
        pose: (3,) pose of the robot.
        person: (K,) slots of the people in the image.
        corners: (K, 4) box around the visible part of each person, px.
        counts: (K,) whether enough of the person is visible to be found.
        distance: (K,) distance from the camera to the person's centre along the ground, m.
        place: (S, 2) positions of all people, by slot, m.
        velocity: (S, 2) velocities, m/s.
        there: (S,) whether the slot holds a person.
    """

    rgb: Array
    depth: Array
    pose: Array
    person: Array
    corners: Array
    counts: Array
    distance: Array
    place: Array
    velocity: Array
    there: Array


class Photographer:
    """Takes frames from the robot while an episode runs, and passes them on."""

    def __init__(self, work: Callable[[Frame], None]) -> None:
        self._work, self._next, self._noise = work, 0.0, NOISES["structured_light"](0.0)
        self.episodes: Any = None
        self._studio: Any = None

    def before(self, what: str) -> None:
        """Move the rendered people, and take a frame if one is due."""
        if what != WORLD:
            return
        world = self.episodes.world
        self._studio = self._studio or Studio(world)
        self._studio.walk(0)
        if float(world.status.clock.step[0]) * world.dt >= self._next - 1e-6:
            self._next += PERIOD
            self._work(self._shoot(world))

    def _shoot(self, world: Any) -> Frame:
        view, pose, people = self._studio.view(0), self._studio.poses(0)[0], world.pedestrians
        eye = Eye.on(CAMERA.pinhole, CAMERA.width, CAMERA.height, pose)
        view.look(eye, 0)
        rgb, depth = np.zeros((CAMERA.height, CAMERA.width, 3), np.uint8), np.zeros((CAMERA.height, CAMERA.width), np.float32)
        view.colours(eye, rgb, depth)
        kind, owner = view.labels(eye)
        person, corners, pixels = true_boxes(owner, kind == CLASSES.index("person"))
        depth[(depth > CAMERA.depth_max) | (depth < CAMERA.depth_min)] = 0.0
        clock = world.status.clock
        self._noise.disturb(clock.key[0], 0, int(clock.step[0]), depth)
        place, velocity = (np.stack([a[0], b[0]], -1).astype(float) for a, b in ((people.x, people.y), (people.vx, people.vy)))
        distance = np.hypot(*(place[person] - eye.place[:2]).T)
        return Frame(rgb, depth, pose, person, corners, pixels >= LEAST, distance, place, velocity, people.active[0].copy())


@dataclass
class Measured:
    """A detector with its results.

    Attributes:
        detector: detector.
        people: (bands,) number of people to be found.
        found: (bands,) number of these people that were found.
        whole: (2,) number of people to be found whose box does not touch the edge of the image, and how many of them were found.
        false: (bands,) number of false detections.
        times: processor time per frame, s.
        scores: scores of the tracks, one object per episode.
        tracker: tracker of the episode.
        first: whether no frame of the episode has been taken yet.
    """

    detector: FindsPeople
    people: Array = field(default_factory=lambda: np.zeros(len(BANDS), int))
    found: Array = field(default_factory=lambda: np.zeros(len(BANDS), int))
    whole: Array = field(default_factory=lambda: np.zeros(2, int))
    false: Array = field(default_factory=lambda: np.zeros(len(BANDS), int))
    times: list[float] = field(default_factory=list)
    scores: list[Scores] = field(default_factory=list)
    tracker: Any = None
    first: bool = True

    def begin(self) -> None:
        """Begin an episode."""
        self.tracker, self.first = ImageTracker(self, CAMERA.pinhole), True
        self.scores.append(Scores())

    def detect(self, image: Array) -> Any:
        """Detect people and record the time."""
        began = time.thread_time()
        boxes = self.detector.detect(image)
        self.times.append(time.thread_time() - began)
        return boxes

    def take(self, frame: Frame) -> Any:
        """Evaluate a frame; return its boxes and the person to whom each belongs."""
        tracks = self.tracker.see(frame.rgb, frame.depth, frame.pose, 0.0 if self.first else PERIOD)
        self.first = False
        boxes = self.tracker.boxes
        owner = whose(boxes.corners, frame.corners)
        found = np.isin(np.arange(len(frame.corners)), owner)
        edges = np.array([0, 0, CAMERA.width, CAMERA.height])
        whole = frame.counts & (frame.corners != edges).all(1)
        self.whole += (whole.sum(), (whole & found).sum())
        away = [_away(frame.depth, corners) for corners in boxes.corners[owner < 0]]
        for k, (near, far) in enumerate(BANDS):
            there = frame.counts & (near <= frame.distance) & (frame.distance < far)
            self.people[k] += there.sum()
            self.found[k] += (there & found).sum()
            self.false[k] += sum(near <= d < far for d in away)
        in_sight = np.zeros(len(frame.there), bool)
        in_sight[frame.person[frame.counts & (frame.distance < Locator().reach)]] = True
        told, here = tracks.present[0], frame.there
        seen = (tracks.id[0][told], tracks.position[0][told], tracks.velocity[0][told])
        self.scores[-1].add(np.flatnonzero(here), frame.place[here], frame.velocity[here], in_sight[here], *seen)
        return boxes, owner


def _away(depth: Array, corners: Array) -> float:
    """Return the median depth in the middle half of a box, m; if there is none, the depth of the farthest band."""
    left, top, right, bottom = corners
    wide, high = (right - left) / 4, (bottom - top) / 4
    inside = depth[int(top + high) : int(bottom - high) + 1, int(left + wide) : int(right - wide) + 1]
    known = inside[inside > 0.0]
    return min(float(np.median(known)), 9.99) if known.size else 9.99


def draw(path: Path, frame: Frame, boxes: Any, owner: Array) -> None:
    """Save a frame with true boxes in green, correct detections in blue, and false detections in red."""
    image = Image.fromarray(frame.rgb)
    pen = ImageDraw.Draw(image)
    for corners, counts in zip(frame.corners, frame.counts, strict=True):
        pen.rectangle(tuple(corners - [0, 0, 1, 1]), outline=(0, 190, 0) if counts else (150, 150, 150), width=2)
    for corners, confidence, whom in zip(boxes.corners, boxes.confidence, owner, strict=True):
        colour = (220, 0, 0) if whom < 0 else (0, 0, 255)
        pen.rectangle(tuple(float(v) for v in corners), outline=colour, width=2)
        pen.text((corners[0] + 3, corners[1] + 3), f"{confidence:.2f}", fill=colour)
    image.save(path)


def play(suite_name: str, episodes: int, seconds: float, measured: Sequence[Measured], pictures: Path | None) -> int:
    """Run some episodes of each stage, and return the number of frames."""
    suite, count = load_suite(suite_name), 0
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)

    def work(frame: Frame) -> None:
        nonlocal count
        for k, one in enumerate(measured):
            seen = one.take(frame)
            if pictures is not None and count % 7 == 0 and len(frame.corners):
                draw(pictures / f"{suite_name}_{count:04d}_{k}.png", frame, *seen)
        count += 1

    for stage in suite.stages:
        for k in range(episodes):
            start = suite.start(stage.name, k)
            for one in measured:
                one.begin()
            photographer = Photographer(work)
            shorter = replace(start, timeout=min(seconds, start.timeout))
            photographer.episodes = Episodes([shorter], make("planners", "orca"), Conditions.of(stage), before=photographer.before)
            for _ in photographer.episodes:
                pass
    return count


def show(name: str, one: Measured) -> None:
    """Print the rows for a detector."""
    for k, (near, far) in enumerate(BANDS):
        told = one.found[k] + one.false[k]
        shares = [f"{a}/{b} = {a / max(b, 1):.2f}" for a, b in ((one.found[k], told), (one.found[k], one.people[k]))]
        print(f"{name:28s} {near:.0f} to {far:2.0f} m: precision {shares[0]:>16s}, recall {shares[1]:>16s}")
    all_told, people = one.found.sum() + one.false.sum(), one.people.sum()
    print(
        f"{name:28s} all       : precision {one.found.sum() / max(all_told, 1):.2f}, recall {one.found.sum() / max(people, 1):.2f},"
        f" of those inside the image {one.whole[1]}/{one.whole[0]} = {one.whole[1] / max(one.whole[0], 1):.2f};"
        f" median {1e3 * np.median(one.times):.1f} ms of processor a frame, p95 {1e3 * np.percentile(one.times, 95):.1f}"
    )
    errors = [np.array([e for s in one.scores for e in getattr(s, f"{what}_errors")] or [np.nan]) for what in ("place", "velocity")]
    people, found, tracks, false, switches = (
        sum(getattr(s, key) for s in one.scores) for key in ("people", "found", "tracks", "false", "switches")
    )
    words = ", ".join(f"{np.median(e):.3f}/{np.percentile(e, 95):.3f} {unit}" for e, unit in zip(errors, ("m", "m/s"), strict=True))
    print(
        f"{name:28s} tracks    : n {people}, precision {1 - false / max(tracks, 1):.3f}, recall {found / max(people, 1):.3f},"
        f" switches {1e3 * switches / max(people, 1):.1f}e-3, p50/p95 {words}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default="elsewhere")
    parser.add_argument("--episodes", type=int, default=2, help="of each stage")
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--pictures", type=Path, help="folder for frames with boxes")
    parser.add_argument("--detector", action="append", choices=list(DETECTORS), help="several may be given; all by default")
    options = parser.parse_args()
    measured = {name: Measured(DETECTORS[name]()) for name in options.detector or DETECTORS}
    count = play(options.suite, options.episodes, options.seconds, list(measured.values()), options.pictures)
    print(f"{options.suite}: {count} frames of {CAMERA.width} x {CAMERA.height}; load {os.getloadavg()[0]:.1f}")
    for name, one in measured.items():
        show(name, one)


if __name__ == "__main__":
    main()
