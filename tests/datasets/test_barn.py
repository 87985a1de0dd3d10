"""BARN: hand-made worlds, and the real ones against the published numbers."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from agora.datasets import barn
from agora.datasets.barn import free_space, read_world, world_numbers
from agora.errors import InputError, UnknownNameError
from agora.robots.model import load_robot
from agora.seeds import key_of
from agora.tasks.suite import load_suite


def test_a_filled_cell_is_a_cylinder_and_a_corridor_of_96_leads_to_the_field(small_barn, tmp_path):
    world = read_world(4, small_barn(tmp_path))
    centres = world.map.discs[:, :2]
    assert len(centres) == 61 + 96
    assert np.abs(centres - (-4.425 + 0.15 * 20, 5.175 + 0.15 * 3)).sum(1).min() < 1e-9
    corridor = centres[centres[:, 1] < 5.1]
    back = corridor[np.isclose(corridor[:, 1], 0.075)]
    assert len(back) == 30
    sides = corridor[corridor[:, 1] > 0.1]
    assert set(np.round(sides[:, 0], 3)) == {-4.425, -0.075}
    assert (len(sides), round(sides[:, 1].min(), 3), round(sides[:, 1].max(), 3)) == (66, 0.225, 5.025)
    assert (world.map.discs[:, 2] == 0.075).all()
    assert world.map.contains([world.start[:2], world.goal[:2]]).all()


def test_cells_and_discs_are_the_same_obstacles(small_barn, tmp_path):
    cells, discs = read_world(4, small_barn(tmp_path), obstacles="cells").map, read_world(4, tmp_path).map
    centres = cells.centre_of(*np.nonzero(cells.occupied))
    order = np.lexsort(discs.discs[:, :2].T)
    np.testing.assert_allclose(centres[np.lexsort(centres.T)], discs.discs[order, :2], atol=1e-9)
    assert (cells.resolution, cells.origin) == (0.15, discs.origin)


def test_the_path_runs_from_start_to_goal_and_is_scored_elsewhere(small_barn, tmp_path):
    world = read_world(4, small_barn(tmp_path), start_x=-2.0)
    assert world.path.shape == (32, 2), "the cell that is there twice counts once"
    np.testing.assert_allclose(world.path[[0, 1, -2, -1]], [[-2, 3], [-2.625, 5.175], [-2.625, 9.525], [-2, 13]])
    np.testing.assert_allclose(world.scored_path[1:-1] - world.path[1:-1], np.tile([-0.15, -0.10], (30, 1)))
    length = np.hypot(-2.775 + 2, 2.075) + 29 * 0.15 + np.hypot(0.775, 13 - 9.425)
    assert world.optimal_time == pytest.approx(length / 2.0)


def test_free_space_keeps_two_cells_from_every_cylinder():
    grid = np.zeros((30, 30), bool)
    grid[20, 3] = True
    grid[0, 29] = True
    free = free_space(grid)
    assert (~free).sum() == 25 + 9
    assert not free[18:23, 1:6].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"digit": "2"}, r"grids\.txt:3: expected 30 digits 0 or 1"),
        ({"path": [[12, 30]]}, r"paths\.json: 4: expected cells within 0..29"),
        ({"path": []}, r"paths\.json: 4: expected cells"),
        ({"path": [[12, 0.5]]}, r"paths\.json:1: 4\[0\]\[1\]: expected an integer, got 0.5"),
        ({"path": [[19, 4]]}, "the path is too close to a cylinder"),
    ],
)
def test_a_broken_file_is_an_error_that_names_it(small_barn, tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        barn.check(small_barn(tmp_path, **options))


@pytest.mark.parametrize(
    ("keep", "message"),
    [(20, r"grids\.txt:20: world 4 has 18 of 30 rows"), (None, r"grids\.txt:33: expected 'world' and a unique number")],
)
def test_a_file_that_ends_early_or_says_a_world_twice_is_refused(small_barn, tmp_path, keep, message):
    path = small_barn(tmp_path) / "grids.txt"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:keep] if keep else lines + lines[1:]))
    with pytest.raises(InputError, match=message):
        world_numbers(tmp_path)


def test_an_unknown_world_is_refused(small_barn, tmp_path):
    with pytest.raises(UnknownNameError, match="no BARN world called '7'"):
        read_world(7, small_barn(tmp_path))


def published(data):
    with (data / "barn" / "metrics.csv").open() as file:
        return {int(row["world"]): row for row in csv.DictReader(file)}


@pytest.mark.data
def test_270_worlds_have_the_published_lengths_and_a_reference_path_where_the_robot_fits(data):
    folder = data / "barn"
    barn.check(folder)
    numbers = world_numbers(folder)
    assert len(numbers) == 270
    assert set(barn.CHALLENGE_WORLDS) <= set(numbers)
    rows = published(data)
    for number in numbers[::7]:
        world = read_world(number, folder)
        assert world.optimal_time == pytest.approx(float(rows[number]["optimal_time_s"]), abs=1e-4)
        assert world.grid.sum() == int(rows[number]["filled_cells"])


@pytest.mark.data
def test_the_path_to_drive_keeps_0_375_m_and_the_scored_one_0_229_m(data):
    worlds = [read_world(number, data / "barn") for number in world_numbers(data / "barn")[::3]]
    assert min(world.map.gap(world.path, 1.0).min() for world in worlds) == pytest.approx(0.375, abs=1e-6)
    assert min(world.map.gap(world.scored_path, 1.0).min() for world in worlds) == pytest.approx(0.229, abs=1e-3)


@pytest.mark.data
def test_scoring_the_published_runs_with_these_optimal_times_gives_the_published_scores(data):
    with (data / "barn" / "dwa_reference_runs.csv").open() as file:
        runs = [(int(r["world"]), int(r["success"]), float(r["time_s"])) for r in csv.DictReader(file)]
    assert {world for world, _, _ in runs} == set(barn.CHALLENGE_WORLDS)
    for start_x, factor, score in ((-2.25, 4, 0.15746), (-2.0, 4, 0.15796), (-2.25, 2, 0.15860), (-2.0, 2, 0.15920)):
        optimal = {n: read_world(n, data / "barn", start_x=start_x).optimal_time for n in barn.CHALLENGE_WORLDS}
        scores = [ok * optimal[n] / np.clip(time, factor * optimal[n], 8 * optimal[n]) for n, ok, time in runs]
        assert np.mean(scores) == pytest.approx(score, abs=1e-5)


@pytest.mark.data
def test_the_ten_runs_of_a_world_differ_in_the_noise_of_the_lidar_alone(data):
    suite = load_suite("barn")
    starts = [suite.start("test_set", k) for k in (7, 57, 457)]
    assert {start.map.name for start in starts} == {"barn_42"} and suite.stage("test_set").count == 500
    assert all((start.robots[0].pose == starts[0].robots[0].pose).all() for start in starts)
    model, exact = starts[0].robots[0].model, load_robot("jackal_barn")
    assert (model.lidar.noise, exact.lidar.noise) == (0.001, 0.0)
    same = {"name": exact.name, "source": exact.source, "lidar": replace(model.lidar, noise=0.0)}
    assert replace(model, **same) == exact
    scans = [np.full((1, 1, model.lidar.beams), 4.0, np.float32) for _ in starts]
    for start, ranges in zip(starts, scans, strict=True):
        model.lidar.perturb(np.array([key_of(start.entry, start.seed, "waypoints")]), np.zeros(1, np.int64), ranges)
    assert np.std(scans, axis=-1) == pytest.approx(np.full((3, 1, 1), 0.001), rel=0.1)
    assert np.corrcoef(np.reshape(scans, (3, -1)))[np.triu_indices(3, 1)] == pytest.approx(np.zeros(3), abs=0.12)
