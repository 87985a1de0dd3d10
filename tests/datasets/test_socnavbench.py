"""SocNavBench: the loading rule on hand-made recordings, and all 33 episodes against the counts of the file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from agora.datasets import socnavbench
from agora.datasets.socnavbench import episode_names, read_episode
from agora.errors import InputError, UnknownNameError

EPISODES = 33


def test_ids_are_loaded_upwards_to_the_first_that_comes_after_the_budget(small_socnavbench, tmp_path):
    people = read_episode("t_one", small_socnavbench(tmp_path / "a")).trajectories
    assert people.id.tolist() == [5, 6], "3 is before the range; 9 comes 10.1 s after the start, and 12 is behind it"
    np.testing.assert_allclose(people.start, [0.0, -6.0])
    np.testing.assert_allclose(people.end, [2.0, -0.1])
    assert people.overlapping(0.0, 10.0).tolist() == [True, False]


def test_places_are_swapped_flipped_turned_and_moved(small_socnavbench, tmp_path):
    def start(**recording):
        return read_episode("t_one", small_socnavbench(tmp_path, **recording)).trajectories.at(0.0).position[0]

    np.testing.assert_allclose(start(), [10 + 2, 20 - 1])
    np.testing.assert_allclose(start(swapxy=False), [10 - 1, 20 + 2])
    np.testing.assert_allclose(start(swapxy=True, flipxn=False, flipyn=True), [10 - 2, 20 + 1])
    turned = np.array([np.cos(0.5) - 2 * np.sin(0.5), np.sin(0.5) + 2 * np.cos(0.5)])
    np.testing.assert_allclose(start(swapxy=False, flipxn=False, offset=[1, 2, 0.5]), turned + (1, 2))


def test_an_episode_has_its_map_poses_and_budget(small_socnavbench, tmp_path):
    episode = read_episode("t_one", small_socnavbench(tmp_path))
    assert (episode.start, episode.goal, episode.budget) == ((0.0, 2.2, 0.3), (0.0, 2.4, -1.0), 10.0)
    assert episode.map.origin == (-1.0, 2.0)
    assert episode.map.occupied.tolist() == [[False, False, True], [False, False, False]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"fps": 10', '"fps": 0', r"datasets.p.fps: expected a number above 0"),
        ('"fps": 10', '"fsp": 10', r"datasets.p.fsp: unknown key; did you mean 'fps'"),
        ('"map": "M"', '"map": "N"', "names a map 'N', which is not in the file"),
        ('"dataset": "p"', '"dataset": "q"', "names a data set 'q', which is not in the file"),
        ('"first_ped_id": 5', '"first_ped_id": 50', "no pedestrian has an id of 50 or more"),
        ("pedestrians/p.csv", "../../p.csv", "knots_file must be inside the data set"),
        ("pedestrians/p.csv", "pedestrians/q.csv", "no such file; did you mean 'p.csv'"),
    ],
)
def test_a_wrong_file_of_episodes_is_an_error(small_socnavbench, tmp_path, old, new, message):
    path = small_socnavbench(tmp_path) / "episodes.json"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        read_episode("t_one", tmp_path)


def test_a_heading_beyond_half_a_turn_is_put_into_one(small_socnavbench, tmp_path):
    path = small_socnavbench(tmp_path) / "episodes.json"
    text = path.read_text()
    path.write_text(text.replace("0.3", "-3.5", 1))
    assert read_episode("t_one", tmp_path).start[2] == pytest.approx(2 * np.pi - 3.5)


def test_an_unknown_episode_is_answered_with_the_nearest(small_socnavbench, tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 't_one'"):
        read_episode("t_ome", small_socnavbench(tmp_path))


@pytest.mark.data
@pytest.mark.parametrize("number", range(EPISODES))
def test_every_episode_loads_the_pedestrians_that_the_benchmark_loads(data, number):
    folder = data / "socnavbench"
    episode = read_episode(episode_names(folder)[number], folder)
    expected = json.loads((folder / "episodes.json").read_text())["episodes"][number]
    people, budget = episode.trajectories, expected["max_time_s"]
    assert people.count == sum(segment["n_loaded"] for segment in expected["pedestrians"])
    assert people.overlapping(0.0, budget).sum() == expected["n_pedestrians_active"]
    part = np.searchsorted([segment["first_ped_id"] for segment in expected["pedestrians"]], people.id, side="right") - 1
    moments = np.append(people.start[(people.start >= 0) & (people.start <= budget)], 0.0)
    there = (people.start <= moments[:, None]) & (people.end > moments[:, None])
    peaks = [there[:, part == p].sum(1).max() for p in range(len(expected["pedestrians"]))]
    assert sum(peaks) == expected["peak_concurrent"]
    share = np.clip(np.minimum(people.end, budget) - np.maximum(people.start, 0.0), 0.0, None).sum() / budget
    assert share == pytest.approx(expected["mean_concurrent"], abs=0.11)
    ends = np.array([episode.start[:2], episode.goal[:2]])
    assert np.hypot(*(ends[1] - ends[0])) == pytest.approx(expected["straight_line_m"], abs=1e-3)
    assert episode.map.gap(ends).min() >= 0.32, "0.36 m to the centres of cells, less to their corners"


@pytest.mark.data
def test_there_are_33_episodes_with_44_8_pedestrians_on_average(data):
    folder = data / "socnavbench"
    names = episode_names(folder)
    assert len(names) == EPISODES
    active = [e.trajectories.overlapping(0.0, e.budget).sum() for e in (read_episode(name, folder) for name in names)]
    assert np.mean(active) == pytest.approx(44.8, abs=0.05)
    assert (min(active), max(active)) == (14, 75)


@pytest.mark.data
def test_pedestrians_have_the_names_that_joysticks_are_told(data):
    for name in episode_names(data / "socnavbench"):
        read = read_episode(name, data / "socnavbench")
        assert len(read.names) == read.trajectories.count == len(set(read.names)) and read.names[0] == "prerec_0000"
    both = read_episode("t_dhotel_bottopmid", data / "socnavbench")  # ids 141 to 163, then 181 to 233
    assert (both.names[list(both.trajectories.id).index(163)], both.names[-1]) == ("prerec_0022", f"prerec_{23 + 233 - 181:04d}")


@pytest.mark.data
def test_hotel_and_univ_are_played_at_three_fifths_of_their_speed(data):
    folder = data / "socnavbench"
    for name, slower in (("t_hotel_follow", 0.6), ("t_dhotel_bottopmid", 0.6), ("t_ETH2", 1.0), ("t_zara2", 1.0)):
        played, real = read_episode(name, folder).trajectories, read_episode(name, folder, real_speed=True).trajectories
        same = np.isin(real.id, played.id)
        assert played.mean_speed() / real.only(same).mean_speed() == pytest.approx(slower, rel=1e-6)


@pytest.mark.data
def test_all_five_recordings_walk_at_their_real_mean_speed(data):
    rates = {"eth": 15.0, "hotel": 25.0, "zara01": 25.0, "zara02": 25.0, "univ": 25.0}
    speeds = {"eth": 1.38, "hotel": 1.04, "zara01": 1.30, "zara02": 0.95, "univ": 0.73}
    for name, rate in rates.items():
        frames = socnavbench._knots(data / "socnavbench" / "pedestrians" / f"{name}.csv")
        assert frames.mean_speed() * rate == pytest.approx(speeds[name], abs=0.006)
