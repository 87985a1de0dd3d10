"""BARN: hand-made worlds, and the real ones against the published numbers."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from agora.datasets import barn
from agora.datasets.barn import free_space, read_world, world_numbers
from agora.errors import InputError, UnknownNameError


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
        ({"path": [[19, 4]]}, "the path comes too near to a cylinder"),
    ],
)
def test_a_broken_file_is_an_error_that_names_it(small_barn, tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        barn.check(small_barn(tmp_path, **options))


@pytest.mark.parametrize(
    ("keep", "message"),
    [(20, r"grids\.txt:20: world 4 has 18 of 30 rows"), (None, r"grids\.txt:33: expected 'world' and a number that is here once")],
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
