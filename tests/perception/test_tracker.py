"""Tracks against the theory of the Kalman filter, a plain twin, and what happens to people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are
from scipy.optimize import linear_sum_assignment
from tests.perception.scans import LIDAR, apart, scans

from agora.optics.lidar import Lidar
from agora.perception.detector import Detections
from agora.perception.groups import GroupDetector
from agora.perception.perception import Perception, ScanTracker
from agora.perception.tracker import Filters, Tracker, track

DT = np.float32(0.1)
NOWHERE = np.zeros((64, 3), np.float32)


def follow(tracker, sightings, variance=0.0, dt=DT, filters=None):
    """Give sightings (T, N, D, 2), NaN for none, to trackers of N rows; yield the filters after each."""
    rows = sightings.shape[1]
    f = filters or Filters.of(rows, tracker)
    due, blind = np.ones(rows, np.bool_), np.zeros((rows, 0), np.float32)
    for moment in sightings:
        seen = Detections.room(rows, tracker.most)
        for n in range(rows):
            there = moment[n][np.isfinite(moment[n, :, 0])]
            seen.x[n, : len(there)], seen.y[n, : len(there)] = there.T
            seen.variance[n, : len(there)], seen.count[n] = variance, len(there)
        steps = np.full(rows, dt, np.float32)
        track(tracker.record(), steps, due, seen, LIDAR.record(), blind, np.float32(10.0), NOWHERE[:rows], f, 0, rows)
        yield f


def dynamics(tracker, dt):
    """Transition, process noise and noise of a sighting of one coordinate."""
    step = np.array([[1.0, dt], [0.0, 1.0]])
    noise = tracker.acceleration * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    return step, noise, tracker.deviation**2


def steady(tracker, dt):
    """The covariance of one coordinate after a sighting, when many have been made."""
    step, noise, seen = dynamics(tracker, dt)
    before = solve_discrete_are(step.T, np.array([[1.0], [0.0]]), noise, np.array([[seen]]))
    return before - before[:, :1] @ before[:1] / (before[0, 0] + seen)


@pytest.mark.parametrize("tracker", [Tracker(), Tracker(deviation=0.11, acceleration=0.2), Tracker(acceleration=2.0)])
def test_who_walks_straight_is_tracked_with_the_steady_covariance_of_the_theory(tracker):
    along = np.array([1.3, -0.4]) * (0.1 * np.arange(80))[:, None] + (2.0, -1.0)
    *_, f = follow(tracker, along[:, None, None])
    wanted = steady(tracker, 0.1)
    found = np.array([[f.place[0, 0], f.cross[0, 0]], [f.cross[0, 0], f.motion[0, 0]]])
    assert found == pytest.approx(wanted, rel=1e-3)
    assert (f.vx[0, 0], f.vy[0, 0]) == pytest.approx((1.3, -0.4), abs=1e-3)
    assert (f.x[0, 0], f.y[0, 0]) == pytest.approx(tuple(along[-1]), abs=1e-4)


def test_the_errors_of_walks_as_the_model_has_them_have_the_covariance_that_is_claimed():
    tracker, rng, rows = Tracker(deviation=0.08, acceleration=0.7, gate=40.0), np.random.default_rng(8), 64
    step, noise, _ = dynamics(tracker, 0.1)
    root = np.linalg.cholesky(noise)
    truth, errors = rng.normal(0.0, 0.5, (rows, 2, 2)), []  # row, axis, place and velocity
    moments = []
    for _ in range(120):
        truth = truth @ step.T + rng.normal(size=(rows, 2, 2)) @ root.T
        moments.append(truth.copy())
    sightings = np.array(moments)[..., 0] + rng.normal(0.0, 0.08, (120, rows, 2))
    for moment, f in zip(moments, follow(tracker, sightings[:, :, None]), strict=True):
        state = np.stack([np.stack([f.x[:, 0], f.vx[:, 0]], -1), np.stack([f.y[:, 0], f.vy[:, 0]], -1)], 1)
        errors.append(state - moment)
    late = np.array(errors[40:]).reshape(-1, 2)
    assert np.cov(late.T) == pytest.approx(steady(tracker, 0.1), rel=0.12)


def test_the_kernel_does_what_its_plain_twin_does():
    rng, tracker = np.random.default_rng(2), Tracker(confirm=2, keep=0.35, most=24)
    place, velocity = rng.uniform(-4.0, 4.0, (15, 2)), rng.uniform(-1.0, 1.0, (15, 2))
    moments = []
    for _ in range(40):
        place = place + 0.1 * velocity
        seen = np.where(rng.random((15, 1)) < 0.2, np.nan, place + rng.normal(0.0, 0.03, (15, 2)))
        moments.append(rng.permutation(seen))
    twin = Twin(tracker)
    for moment, f in zip(moments, follow(tracker, np.array(moments)[:, None], variance=0.01), strict=True):
        twin.step(moment[np.isfinite(moment[:, 0])], 0.01, 0.1)
        held = sorted((int(f.id[0, i]), i) for i in np.flatnonzero(f.used[0]))
        assert [number for number, _ in held] == sorted(twin.tracks)
        for number, i in held:
            mean, covariance, believed = twin.tracks[number][:3]
            assert np.array([f.x[0, i], f.vx[0, i], f.y[0, i], f.vy[0, i]]) == pytest.approx(mean.ravel(), abs=2e-3)
            kernel = np.array([[f.place[0, i], f.cross[0, i]], [f.cross[0, i], f.motion[0, i]]])
            assert kernel == pytest.approx(covariance, rel=1e-3, abs=1e-6)
            assert bool(f.believed[0, i]) == believed


class Twin:
    """The tracker in plain float64, with matrices and scipy's assignment; for scenes in which nobody is seen not to be there."""

    def __init__(self, tracker):
        self.tracker, self.tracks, self.born = tracker, {}, 0  # id -> mean (2, 2), covariance, believed, hits, unseen

    def step(self, seen, variance, dt):
        t, (step, noise, own) = self.tracker, dynamics(self.tracker, dt)
        numbers = list(self.tracks)
        for number in numbers:
            mean, covariance, *rest = self.tracks[number]
            self.tracks[number] = [mean @ step.T, step @ covariance @ step.T + noise, *rest]
        means = np.array([self.tracks[n][0][:, 0] for n in numbers]).reshape(-1, 2)
        spread = np.array([self.tracks[n][1][0, 0] for n in numbers]) + own + variance
        d2 = ((means[:, None] - seen[None]) ** 2).sum(-1)
        near = (d2 <= t.gate * spread[:, None]) & (d2 < t.farthest**2)
        taken = set()
        for i, j in zip(*linear_sum_assignment(np.where(near, d2, t.farthest**2)), strict=True):
            if near[i, j]:
                track_ = self.tracks[numbers[i]]
                gain = track_[1][:, 0] / spread[i]
                track_[0] = track_[0] + np.outer(seen[j] - track_[0][:, 0], gain)
                track_[1] = track_[1] - np.outer(gain, track_[1][0])
                track_[3], track_[4] = track_[3] + 1, 0.0
                track_[2] = track_[3] >= t.confirm
                taken.add((numbers[i], j))
        for number in set(numbers) - {n for n, _ in taken}:
            track_ = self.tracks[number]
            track_[4] += dt
            if not track_[2] or track_[4] > t.keep + 1e-6:
                del self.tracks[number]
        for j in sorted(set(range(len(seen))) - {j for _, j in taken}):
            fresh = [v for v in self.tracks.values() if v[2] and v[4] == 0.0]
            if all(np.hypot(*(v[0][:, 0] - seen[j])) >= t.radius for v in fresh):
                self.born += 1
                mean = np.stack([seen[j], np.zeros(2)], -1)
                self.tracks[self.born] = [mean, np.diag([own + variance, t.speed**2]), False, 1, 0.0]


def test_somebody_new_is_believed_after_the_given_scans_and_one_who_was_a_flicker_is_not():
    steady_one, flicker = np.full((6, 1, 1, 2), (1.0, 2.0)), np.full((6, 1, 1, 2), np.nan)
    flicker[1] = (-2.0, 0.5)
    believed = [f.believed[0].sum() for f in follow(Tracker(confirm=3), np.concatenate([steady_one, flicker], 2))]
    assert believed == [0, 0, 1, 1, 1, 1]


def test_who_is_hidden_is_kept_for_the_given_time_goes_on_and_is_forgotten_then():
    tracker = Tracker(keep=0.72)
    walk = (0.1 * np.arange(40))[:, None] * (1.0, 0.5)
    walk[20:] = np.nan
    there, places, spread = [], [], []
    for f in follow(tracker, walk[:, None, None]):
        there.append(bool(f.believed[0].any()))
        places.append((f.x[0, 0], f.y[0, 0]))
        spread.append(float(f.place[0, 0]))
    assert there[19:] == [True] * 8 + [False] * 13  # 7 scans are 0.7 s
    assert places[26] == pytest.approx((2.6, 1.3), abs=1e-3)
    assert all(np.diff(spread[19:27]) > 0)


def test_who_comes_out_behind_the_one_who_hid_them_is_the_same_person():
    """Somebody walks behind somebody who stands: hidden for 0.7 s, seen again with the same id."""
    pose = np.array([[-0.3, 0.2, 0.4]])
    tracker, ids, hidden = ScanTracker(LIDAR), {}, 0
    for k in range(50):
        walker, stands = np.array([4.2, -2.4 + 0.1 * 1.1 * k]), np.array([2.1, 0.25])
        tracks = tracker.see(scans([[walker, stands]], pose), pose, 0.1 if k else 0.0)
        near = np.hypot(*(tracks.position[0] - walker).T) + np.where(tracks.present[0], 0.0, 99.0)
        if k > 4:
            ids.setdefault(int(tracks.id[0, near.argmin()]), []).append(near.min())
        hidden += tracker.detections.count[0] == 1
    assert 3 <= hidden <= 9
    assert list(ids) == [next(iter(ids))]
    assert max(ids[next(iter(ids))]) < 0.25


def test_two_who_cross_keep_their_ids():
    pose = np.array([[0.2, -0.3, 0.4]])
    tracker = ScanTracker(LIDAR)
    kept = []
    for k in range(45):
        t = 0.1 * k
        people = np.array([[1.6 + 0.75 * t, 2.4 - 0.9 * t], [2.5 + 0.75 * t, -2.0 + 0.9 * t]])
        tracks = tracker.see(scans([people], pose), pose, 0.1 if k else 0.0)
        if k > 3:
            apart_ = np.hypot(*(tracks.position[0][:, None] - people[None]).transpose(2, 0, 1))
            apart_[~tracks.present[0]] = 99.0
            kept.append([int(tracks.id[0, i]) for i in apart_.argmin(0)])
            assert apart_.min(0).max() < 0.3
    assert len({tuple(pair) for pair in kept}) == 1
    assert len(set(kept[0])) == 2


def test_who_is_seen_not_to_be_there_is_forgotten_before_the_time_is_over():
    pose = np.array([[0.1, 0.2, -0.7]])
    tracker = ScanTracker(LIDAR, Perception("tracked", tracker=Tracker(keep=30.0, misses=3)))
    for k in range(10):
        tracks = tracker.see(scans([[(2.0, 1.1), (-1.4, 2.0)]], pose), pose, 0.1 if k else 0.0)
    assert tracks.present.sum() == 2
    counts = [tracker.see(scans([[(-1.4, 2.0)]], pose), pose, 0.1).present.sum() for _ in range(4)]
    assert counts == [2, 2, 1, 1]


def test_who_is_beyond_the_view_is_not_seen_to_be_gone():
    lidar = Lidar(beams=181, angle_min=-1.2, angle_max=1.2, range_max=10.0)
    tracker = ScanTracker(lidar, Perception("tracked", tracker=Tracker(keep=30.0)))
    turned = np.array([[0.0, 0.0, 0.0]])
    for k in range(6):
        tracker.see(scans([[(2.0, 0.4)]], turned, lidar), turned, 0.1 if k else 0.0)
    away = np.array([[0.0, 0.0, 2.9]])
    for _ in range(20):
        tracks = tracker.see(scans([[(2.0, 0.4)]], away, lidar), away, 0.1)
    assert tracks.present.sum() == 1


def test_nobody_gives_no_tracks():
    tracker = ScanTracker(LIDAR)
    for _ in range(5):
        tracks = tracker.see(scans(np.zeros((1, 0, 2)), NOWHERE[:1]), NOWHERE[:1], 0.1)
        assert not tracks.present.any()
        assert (tracks.id == -1).all() and (tracks.group == -1).all()
        assert not tracks.position.any()


def walked(rows, steps=25, people=12, seed=6, move=None, lidar=LIDAR):
    """Tracks after people have walked past standing robots, each row another scene; ``move`` is (angle, offset)."""
    rng = np.random.default_rng(seed)
    pose = np.column_stack([rng.uniform(-1.0, 1.0, (rows, 2)), rng.uniform(-3.0, 3.0, rows)])
    places = np.array([apart(rng, people, p) for p in pose])
    velocity = rng.uniform(-0.8, 0.8, places.shape)
    angle, offset = move or (0.0, np.zeros(2))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    pose = np.column_stack([pose[:, :2] @ turn.T + offset, pose[:, 2] + angle])
    tracker = ScanTracker(lidar, rows=rows)
    for k in range(steps):
        here = (places + 0.1 * k * velocity) @ turn.T + offset
        tracks = tracker.see(scans(here, pose, lidar), pose, 0.1 if k else 0.0)
    return tracks


def test_rows_do_not_know_of_each_other():
    together = walked(64)
    fields = {name: array.copy() for name, array in vars(together).items() if array is not None}
    assert fields["present"].sum() > 64 * 5
    rng = np.random.default_rng(6)
    pose = np.column_stack([rng.uniform(-1.0, 1.0, (64, 2)), rng.uniform(-3.0, 3.0, 64)])
    places = np.array([apart(rng, 12, p) for p in pose])
    velocity = rng.uniform(-0.8, 0.8, places.shape)
    for n in (0, 17, 63):
        alone = ScanTracker(LIDAR)
        for k in range(25):
            row = slice(n, n + 1)
            tracks = alone.see(scans((places + 0.1 * k * velocity)[row], pose[row]), pose[row], 0.1 if k else 0.0)
        for name, array in fields.items():
            assert np.array_equal(getattr(tracks, name)[0], array[n]), name


def test_parts_of_a_batch_give_what_the_whole_gives():
    tracker, halves = (ScanTracker(LIDAR, rows=6) for _ in range(2))
    rng = np.random.default_rng(1)
    pose = np.column_stack([rng.uniform(-1.0, 1.0, (6, 2)), rng.uniform(-3.0, 3.0, 6)])
    places = np.array([apart(rng, 8, p) for p in pose])
    for k in range(8):
        ranges = scans(places + 0.05 * k, pose)
        whole = tracker.see(ranges, pose, 0.1)
        for due in (np.arange(6) % 2 == 0, np.arange(6) % 2 == 1):
            halves.ranges[...], halves.pose[...] = ranges, pose
            halves.prepare(due, 0.1)
            halves.work(0, 4)
            halves.work(4, 6)
    for name, array in vars(halves.tell(0.0)).items():
        assert np.array_equal(array, getattr(whole, name)), name


def test_a_moved_and_rotated_scene_gives_moved_and_rotated_tracks():
    angle, offset = 0.83, np.array([1.3, -0.7])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    fields = {name: array.copy() for name, array in vars(walked(8)).items() if array is not None}
    moved = walked(8, move=(angle, offset))
    here = fields["present"]
    assert here.sum() > 40
    assert np.array_equal(moved.present, here)
    assert np.array_equal(moved.id, fields["id"])
    assert np.array_equal(moved.group, fields["group"])
    assert moved.position[here] == pytest.approx(fields["position"][here] @ turn.T + offset, abs=2e-3)
    assert moved.velocity[here] == pytest.approx(fields["velocity"][here] @ turn.T, abs=2e-2)


def test_groups_are_those_of_the_detector_on_the_last_tracks():
    rng, detector = np.random.default_rng(9), GroupDetector()
    place = np.array([(0.0, 0.0), (0.7, 0.2), (4.0, 1.0), (4.6, 1.5), (4.2, 2.1), (-3.0, 2.0), (-3.5, -2.0)])
    velocity = np.array([(1.0, 0.2)] * 2 + [(-0.5, 0.6)] * 3 + [(0.1, -0.9), (0.1, 0.9)])
    tracker, window = Tracker(), []
    steps = place + 0.1 * np.arange(30)[:, None, None] * velocity + rng.normal(0.0, 0.02, (30, 7, 2))
    for f in follow(tracker, steps[:, None]):
        kept = np.flatnonzero(f.used[0])
        there = f.believed[0, kept]
        window.append((np.stack([f.x, f.y], -1)[0, kept].copy(), np.stack([f.vx, f.vy], -1)[0, kept].copy(), there.copy()))
    last = [np.array(part, float if k < 2 else bool) for k, part in enumerate(zip(*window[-tracker.window :], strict=True))]
    wanted = detector.detect(last[0], last[1], None, last[2])
    assert f.group[0, kept].tolist() == wanted.tolist()
    assert sorted(np.bincount(wanted[wanted >= 0]).tolist()) == [2, 3]


def test_people_who_part_are_no_group_any_more():
    tracker = Tracker()
    together = np.array([(0.0, 0.0), (0.7, 0.0)]) + 0.1 * np.arange(20)[:, None, None] * (1.0, 0.0)
    parted = together[-1] + 0.1 * np.arange(1, 30)[:, None, None] * np.array([(1.0, 0.9), (1.0, -0.9)])
    groups = [f.group[0, :2].tolist() for f in follow(tracker, np.concatenate([together, parted])[:, None])]
    assert groups[19] == [0, 0]
    assert groups[-1] == [-1, -1]


def test_between_scans_people_go_on_as_they_went():
    pose = np.array([[0.0, 0.0, 0.2]])
    tracker = ScanTracker(LIDAR)
    for k in range(20):
        tracks = tracker.see(scans([[(2.0 - 0.08 * k, 1.0 + 0.05 * k)]], pose), pose, 0.1 if k else 0.0)
    (i,) = np.flatnonzero(tracks.present[0])
    before, velocity = tracks.position[0, i].copy(), tracks.velocity[0, i].copy()
    assert velocity == pytest.approx((-0.8, 0.5), abs=0.03)
    assert tracker.tell(0.07).position[0, i] == pytest.approx(before + np.float32(0.07) * velocity, abs=1e-6)


def test_a_row_that_forgets_is_as_at_the_start():
    tracker, fresh = ScanTracker(LIDAR, rows=2), ScanTracker(LIDAR, rows=2)
    pose = np.array([[0.0, 0.0, 0.2], [0.3, -0.2, 1.0]])
    scene = [[(2.0, 0.5)], [(-1.5, 1.0)]]
    for _ in range(4):
        tracker.see(scans(scene, pose), pose, 0.1)
    tracker.forget(slice(1, 2))
    tracks = tracker.tell(0.0)
    assert tracks.present.sum(1).tolist() == [1, 0]
    for _ in range(3):
        again, first = tracker.see(scans(scene, pose), pose, 0.1), fresh.see(scans(scene, pose), pose, 0.1)
    assert again.id[1].tolist() == first.id[1].tolist()


def test_parameters_that_make_no_sense_are_refused():
    for name, value in {"deviation": 0.0, "keep": -1.0, "confirm": 0, "window": 3, "gate": float("inf")}.items():
        with pytest.raises(ValueError, match=name):
            replace(Tracker(), **{name: value})
