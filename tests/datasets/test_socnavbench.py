"""SocNavBench: the loading rule on hand-made recordings, and all 33 episodes against the counts of the file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from agora.datasets import socnavbench
from agora.datasets.socnavbench import episode_names, read_episode
from agora.errors import InputError, UnknownNameError

EPISODES = 33


def small(folder, **recording):
    """A data set of one episode on a crooked map, and pedestrians 3, 5, 6, 9 whose ids have gaps."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "maps").mkdir(exist_ok=True)
    (folder / "pedestrians").mkdir(exist_ok=True)
    (folder / "maps" / "M.pgm").write_bytes(b"P5\n3 2\n255\n" + bytes([254] * 5 + [0]))
    (folder / "maps" / "M.yaml").write_text(
        "image: M.pgm\nresolution: 0.5\norigin: [-1, 2, 0]\noccupied_thresh: 0.65\nfree_thresh: 0.196\nnegate: 0\n"
    )
    rows = [
        (90, 3, 0, 0),
        (130, 3, 4, 0),
        (100, 5, 1, 2),
        (120, 5, 3, 2),
        (40, 6, 0, 0),
        (99, 6, 1, 0),
        (201, 9, 0, 0),
        (300, 9, 1, 1),
    ]
    rows += [(110, 12, 0, 0), (120, 12, 1, 1)]
    (folder / "pedestrians" / "p.csv").write_text("frame,ped,x,y\n" + "".join(f"{f},{i},{x},{y}\n" for f, i, x, y in rows))
    placed = {"knots_file": "pedestrians/p.csv", "fps": 10, "offset": [10, 20, 0], "swapxy": True, "flipxn": True, "flipyn": False}
    segment = {"dataset": "p", "ped_range": [4, -1], "first_ped_id": 5, "last_ped_id_loaded": 6, "start_frame": 100}
    episode = {"name": "t_one", "map": "M", "max_time_s": 10.0, "robot_start": [0, 2.2, 0.3], "robot_goal": [0, 2.4, -1]}
    episode |= {"straight_line_m": 0.2, "n_pedestrians_active": 1, "peak_concurrent": 1, "mean_concurrent": 0.2}
    size = {"file": "maps/M.pgm", "resolution_m": 0.5, "width_m": 1.5, "height_m": 1.0, "origin": [-1, 2], "provenance": "made up"}
    content = {
        "simulator": {"dt_s": 0.05},
        "datasets": {"p": placed | recording},
        "maps": {"M": size},
        "episodes": [episode | {"pedestrians": [segment | {"start_t": 0.0, "n_loaded": 2}]}],
    }
    (folder / "episodes.json").write_text(json.dumps(content, indent=1))
    return folder


def test_ids_are_loaded_upwards_to_the_first_that_comes_after_the_budget(tmp_path):
    people = read_episode("t_one", small(tmp_path / "a")).trajectories
    assert people.id.tolist() == [5, 6], "3 is before the range; 9 comes 10.1 s after the start, and 12 is behind it"
    np.testing.assert_allclose(people.start, [0.0, -6.0])
    np.testing.assert_allclose(people.end, [2.0, -0.1])
    assert people.overlapping(0.0, 10.0).tolist() == [True, False]


def test_places_are_swapped_flipped_turned_and_moved(tmp_path):
    def start(**recording):
        return read_episode("t_one", small(tmp_path, **recording)).trajectories.at(0.0).position[0]

    np.testing.assert_allclose(start(), [10 + 2, 20 - 1])
    np.testing.assert_allclose(start(swapxy=False), [10 - 1, 20 + 2])
    np.testing.assert_allclose(start(swapxy=True, flipxn=False, flipyn=True), [10 - 2, 20 + 1])
    turned = np.array([np.cos(0.5) - 2 * np.sin(0.5), np.sin(0.5) + 2 * np.cos(0.5)])
    np.testing.assert_allclose(start(swapxy=False, flipxn=False, offset=[1, 2, 0.5]), turned + (1, 2))


def test_an_episode_has_its_map_poses_and_budget(tmp_path):
    episode = read_episode("t_one", small(tmp_path))
    assert (episode.start, episode.goal, episode.budget) == ((0.0, 2.2, 0.3), (0.0, 2.4, -1.0), 10.0)
    assert episode.map.origin == (-1.0, 2.0)
    assert episode.map.occupied.tolist() == [[False, False, True], [False, False, False]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"fps": 10', '"fps": 0', r"datasets.p: fps must be above 0"),
        ('"fps": 10', '"fsp": 10', r"datasets.p.fsp: unknown key; did you mean 'fps'"),
        ('"map": "M"', '"map": "N"', "names a map 'N' that is not in the file"),
        ('"dataset": "p"', '"dataset": "q"', "names a data set 'q' that is not in the file"),
        ('"first_ped_id": 5', '"first_ped_id": 50', "no pedestrian has an id of 50 or above"),
        ("pedestrians/p.csv", "../../p.csv", "knots_file must lie inside the data set"),
        ("pedestrians/p.csv", "pedestrians/q.csv", "no such file; did you mean 'p.csv'"),
    ],
)
def test_a_wrong_file_of_episodes_is_an_error(tmp_path, old, new, message):
    path = small(tmp_path) / "episodes.json"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        read_episode("t_one", tmp_path)


def test_a_heading_beyond_half_a_turn_is_put_into_one(tmp_path):
    path = small(tmp_path) / "episodes.json"
    text = path.read_text()
    path.write_text(text.replace("0.3", "-3.5", 1))
    assert read_episode("t_one", tmp_path).start[2] == pytest.approx(2 * np.pi - 3.5)


def test_an_unknown_episode_is_answered_with_the_nearest(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 't_one'"):
        read_episode("t_ome", small(tmp_path))


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
