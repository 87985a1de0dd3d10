"""Scenes of recorded pedestrians: frame rates, ids that come back, and the files of other collections."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest
from typer.testing import CliRunner

from agora.cli.app import app
from agora.datasets.eth_ucy import read_scene, scene_sources
from agora.datasets.scenes import SceneFile
from agora.errors import InputError
from agora.tasks.worlds.eth_ucy import EthUcy
from agora.world.trajectories import Trajectories

SPEED = 1.3


def obsmat(folder, name, rate, step, velocities=True):
    """Three people at 1.3 m/s, a row every ``step`` frames of a video of ``rate`` frames a second, in OpenTraj's columns."""
    rows = [
        (780 + k * step, p, SPEED * k * step / rate, 0.0, 2.0 * p, SPEED * velocities, 0.0, 0.0)
        for k in range(40)
        for p in (1, 2, 3)
    ]
    (folder / name).mkdir()
    np.savetxt(folder / name / "obsmat.txt", rows, fmt="%.7e")
    return folder


def table(folder, name, rows):
    (folder / name).mkdir(exist_ok=True)
    (folder / name / f"{name}.txt").write_text("\n".join("\t".join(map(str, row)) for row in rows) + "\n")
    return folder


def told(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("name", ["seq_eth", "biwi_eth", "SEQ_ETH"])
def test_the_first_scene_of_eth_has_15_frames_a_second_under_every_name_of_the_collections(tmp_path, caplog, name):
    folder = obsmat(tmp_path, name, 15, 6, velocities=False)
    assert read_scene(name, folder=folder).trajectories.mean_speed() == pytest.approx(SPEED)
    assert not told(caplog)


def test_the_velocities_of_a_scene_say_its_frame_rate(tmp_path, caplog):
    folder = obsmat(tmp_path, "my30fps", 30, 12)
    assert read_scene("my30fps", folder=folder).trajectories.mean_speed() == pytest.approx(SPEED)
    assert not told(caplog)


def test_a_scene_says_its_frame_rate_in_a_file_and_who_asks_says_it_first(tmp_path, caplog):
    folder = table(tmp_path, "mall", [(12 * k, 4, SPEED * 0.4 * k, 1.0) for k in range(20)])
    (folder / "mall" / "scene.yaml").write_text("frame_rate: 30\n")
    assert read_scene("mall", folder=folder).trajectories.mean_speed() == pytest.approx(SPEED)
    asked = read_scene("mall", folder=folder, said=SceneFile(frame_rate=15.0)).trajectories
    assert asked.mean_speed() == pytest.approx(SPEED / 2)
    assert not told(caplog)
    (folder / "mall" / "scene.yaml").write_text("frame_rat: 30\n")
    with pytest.raises(InputError, match=r"scene\.yaml:1: frame_rat: unknown key; did you mean 'frame_rate'"):
        read_scene("mall", folder=folder)


def test_a_scene_of_which_nothing_says_the_rate_is_read_at_25_and_that_is_told_with_speeds_that_nobody_walks(tmp_path, caplog):
    folder = table(tmp_path, "plaza", [(12 * k, 4, SPEED * 2.4 * k, 1.0) for k in range(20)])
    read_scene("plaza", folder=folder)
    rate, speed = told(caplog)
    assert "plaza: the frame rate is unknown; 25 frames per second are assumed" in rate and "frame_rate: N" in rate
    assert "plaza.txt: its people walk at 6.50 m/s on average with 25 frames per second; expected 0.3 to 2.5 m/s" in speed


def test_an_id_that_comes_back_is_another_person(tmp_path):
    here = [(10 * k, 1, 0.52 * k, 0.0) for k in range(20)]
    there = [(1500 + 10 * k, 1, 0.52 * k, 8.0) for k in range(20)]
    people = read_scene("ids", folder=table(tmp_path, "ids", here + there)).trajectories
    assert people.id.tolist() == [1, 2]
    assert [people.at(s).present.tolist() for s in (5.0, 20.0, 61.0)] == [[True, False], [False, False], [False, True]]
    np.testing.assert_allclose(people.at(61.0).position[1], [1.3, 8.0])


def test_gaps_up_to_the_longest_are_walked_and_the_new_ids_depend_on_ids_and_times_alone():
    time = np.array([0.0, 2.0, 4.1, 9.0, 0.0, 3.0, 3.5])
    who = np.array([9, 9, 9, 9, 4, 4, 4])
    people = Trajectories.of_rows(time, who, time, 0 * time, longest_gap=2.0)
    assert people.id.tolist() == [4, 9, 10, 11, 12]
    assert people.start.tolist() == [0.0, 0.0, 3.0, 4.1, 9.0]
    order = np.array([3, 5, 0, 6, 2, 1, 4])
    again = Trajectories.of_rows(time[order], who[order], time[order], 0 * time, longest_gap=2.0)
    assert all(np.array_equal(getattr(people, name), getattr(again, name)) for name in ("id", "first", "knot_time", "knot_x"))
    with pytest.raises(InputError, match="none is left for pedestrians that return"):
        Trajectories.of_rows([0.0, 9.0], [2**31 - 1, 2**31 - 1], [0.0, 1.0], [0.0, 1.0], longest_gap=2.0)


def test_an_id_twice_in_a_frame_names_both_lines(tmp_path):
    folder = table(tmp_path, "dup", [(0, 7, 0, 0), ("",), (10, 7, 0.5, 0), (10, 8, 1, 1), (10, 7, 0.6, 0)])
    with pytest.raises(InputError, match=r"dup\.txt:5: pedestrian 7 occurs twice in frame 10; first in line 3"):
        read_scene("dup", folder=folder)


def trajnet(folder, more=()):
    lines = [{"scene": {"id": 0, "p": 1, "s": 0, "e": 290, "fps": 2.5, "tag": [1, []]}}]
    lines += [{"track": {"f": 10 * k, "p": p, "x": 0.52 * k, "y": float(p)}} for k in range(30) for p in (1, 2)]
    (folder / "lcas").mkdir(exist_ok=True)
    (folder / "lcas" / "val.ndjson").write_text(
        "\n".join(json.dumps(line) if isinstance(line, dict) else line for line in [*lines, *more])
    )
    return folder


def test_trajnet_is_read_at_the_rate_that_its_scenes_say_without_predictions(tmp_path, caplog):
    guess = {"track": {"f": 300, "p": 1, "x": 99.0, "y": 1.0, "prediction_number": 0, "scene_id": 0}}
    folder = trajnet(tmp_path, [guess])
    people = read_scene("lcas", folder=folder).trajectories
    assert scene_sources("lcas", folder) == ("trajnet",)
    assert people.mean_speed() == pytest.approx(SPEED) and people.end.tolist() == [pytest.approx(11.6)] * 2
    assert not told(caplog)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"track": {"f": 0, "p": 3, "x": "a", "y": 0}}', r"val\.ndjson:62: x is 'a'; expected a finite number"),
        ('{"track": {"f": 0, "p": 3, "x": 1}}', r"ndjson:62: y is None"),
        ('{"track": ', r"ndjson:62: not valid JSON"),
        ("[1, 2]", r'ndjson:62: expected \{"track": \{...\}\} or'),
        ('{"scene": {"fps": 4}}', r"ndjson:62: fps is 4; expected one number above 0, the same in all scenes"),
        ('{"track": {"f": 10, "p": 2, "x": 1, "y": 0}}', r"ndjson:62: pedestrian 2 occurs twice in frame 10; first in line 5"),
    ],
)
def test_a_broken_file_of_trajnet_is_an_error_with_a_line(tmp_path, line, message):
    with pytest.raises(InputError, match=message):
        read_scene("lcas", folder=trajnet(tmp_path, [line]))


def drone(folder, more=()):
    rows = [f'3 {98 + k} 200 {102 + k} 220 {k} {int(200 < k < 290)} 0 {int(k % 15 > 0)} "Pedestrian"' for k in range(300)]
    rows += [f'4 {3 * k} 300 {3 * k + 9} 320 {k} 0 0 0 "Biker"' for k in range(300)]
    (folder / "bookstore").mkdir(exist_ok=True)
    (folder / "bookstore" / "annotations.txt").write_text("\n".join([*rows, *more]))
    return folder


def test_stanford_drone_is_read_in_metres_with_y_up_and_without_who_rides_or_is_lost(tmp_path, caplog):
    people = read_scene("bookstore", folder=drone(tmp_path), said=SceneFile(scale=0.04)).trajectories
    assert people.id.tolist() == [3, 4]
    np.testing.assert_allclose(people.at(1.0).position[0], [0.04 * 130.0, -0.04 * 210.0])
    np.testing.assert_allclose(people.at(1.0).velocity[0], [1.2, 0.0], atol=1e-12)
    assert people.end[0] == pytest.approx(200 / 30)
    assert not told(caplog)


def test_stanford_drone_without_a_scale_is_refused_and_so_is_a_broken_row(tmp_path):
    with pytest.raises(
        InputError,
        match=r"annotations\.txt: its positions are in pixels; set the metres per pixel, such as scale: "
        r"0\.04, in",
    ):
        read_scene("bookstore", folder=drone(tmp_path))
    for row, message in (("5 1 2 3 4 5 0 0 0 Cart", "expected 9 numbers"), ("5 1 2 3 4 5 0 0 0", "a label in quotes")):
        with pytest.raises(InputError, match=f"txt:601: .*{message}"):
            read_scene("bookstore", folder=drone(tmp_path, [row]), said=SceneFile(scale=0.04))


def test_a_suite_plays_scenes_of_any_folder_at_the_rate_that_it_says(tmp_path):
    folder = table(tmp_path, "mall", [(12 * k, 4, SPEED * 0.4 * k, 1.0) for k in range(20)])
    world = EthUcy(scenes=("mall",), folder=str(folder), frame_rate=30.0, length=5.0)
    assert world.files() == [folder / "mall"]
    assert read_scene("mall", folder=folder, said=SceneFile(30.0)).trajectories.mean_speed() == pytest.approx(SPEED)
    with pytest.raises(ValueError, match="did you mean 'mall'"):
        EthUcy(scenes=("male",), folder=str(folder))


def test_a_scene_is_brought_in_with_its_rate_and_scale(tmp_path, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path / "home"))
    source = drone(tmp_path) / "bookstore"
    run = CliRunner().invoke(app, ["data", "import", "eth_ucy", str(source), "--scene", "shop", "--scale", "0.04"])
    assert run.exit_code == 0, run.output
    assert read_scene("shop").trajectories.mean_speed() == pytest.approx(1.2)
    refused = CliRunner().invoke(app, ["data", "import", "eth_ucy", str(source), "--scene", "other"])
    assert isinstance(refused.exception, InputError)
    assert str(refused.exception).startswith(f"{source}/annotations.txt: its positions are in pixels")
    assert [path.name for path in (tmp_path / "home" / "eth_ucy").iterdir()] == ["shop"]
    for arguments, message in (
        (["eth_ucy", str(source), "--scale", "0.04"], "name it"),
        (["barn", str(source), "--scene", "x"], "data set eth_ucy, got 'barn'"),
    ):
        assert message in str(CliRunner().invoke(app, ["data", "import", *arguments]).exception)


def walkers(pedestrians, frames, step, *, seed=5):
    """Rows of frame, pedestrian, x, y of people who come and go on lines of their own at 1 m/s, 2.5 rows per second."""
    rng, rows = np.random.default_rng(seed), []
    for p in range(1, pedestrians + 1):
        begin, place, heading = int(rng.integers(frames // 2)), rng.uniform(-8, 8, 2), rng.uniform(-np.pi, np.pi)
        for k in range(begin, begin + frames // 2):
            x, y = place + 0.4 * (k - begin) * np.array([np.cos(heading), np.sin(heading)]) + rng.normal(0.0, 0.02, 2)
            rows.append((k * step, p, round(x, 4), round(y, 4)))
    return sorted(rows)


def turned(rows):
    return sorted((p, f, x, y) for f, p, x, y in rows)


@pytest.mark.parametrize("step", [1, 10])
def test_pedestrians_in_the_first_column_are_seen_and_said(tmp_path, caplog, step):
    rows = walkers(9, 60, step)
    right = read_scene("right", folder=table(tmp_path, "right", rows), said=SceneFile(2.5 * step)).trajectories
    assert not told(caplog)
    people = read_scene("mixed", folder=table(tmp_path, "mixed", turned(rows)), said=SceneFile(2.5 * step)).trajectories
    assert people.id.tolist() == right.id.tolist() and np.array_equal(people.knot_x, right.knot_x)
    [line] = told(caplog)
    assert "mixed.txt: its columns are read as pedestrian, frame, x, y" in line


@pytest.mark.parametrize("swap", [False, True])
def test_columns_that_the_numbers_do_not_tell_are_asked_for_and_an_option_says_them(tmp_path, caplog, swap):
    rows = [(f, p, 0.9 * f, 0.6 * p) for f in range(20) for p in (1, 2)]  # two abreast, nearer to each other than their steps
    folder = table(tmp_path, "two", turned(rows) if swap else rows)
    read_scene("two", folder=folder, said=SceneFile(1.0))
    [line] = told(caplog)[:1]
    assert "two.txt: its columns are read as frame, pedestrian, x, y, but may be pedestrian, frame, x, y" in line
    caplog.clear()
    (folder / "two" / "scene.yaml").write_text(f"columns: {'pedestrian frame x y' if swap else 'frame pedestrian x y'}\n")
    people = read_scene("two", folder=folder, said=SceneFile(1.0)).trajectories
    assert people.id.tolist() == [1, 2] and not told(caplog)
    (folder / "two" / "scene.yaml").write_text("columns: x y\n")
    with pytest.raises(InputError, match=r"scene\.yaml:1: columns: expected one of frame pedestrian x y, pedestrian frame x y"):
        read_scene("two", folder=folder)


def test_ids_that_are_several_apart_are_no_frames(tmp_path, caplog):
    rows = [(f, 4 * p, x, y) for f, p, x, y in walkers(6, 40, 1)]
    right = read_scene("right", folder=table(tmp_path, "right", rows), said=SceneFile(2.5)).trajectories
    assert right.id.tolist() == [4, 8, 12, 16, 20, 24] and not told(caplog)
    people = read_scene("mixed", folder=table(tmp_path, "mixed", turned(rows)), said=SceneFile(2.5)).trajectories
    assert people.id.tolist() == right.id.tolist() and len(told(caplog)) == 1


def test_one_pedestrian_in_the_first_column_is_asked_for(tmp_path, caplog):
    read_scene("one", folder=table(tmp_path, "one", [(5, f, 0.5 * f, 1.0) for f in range(20)]), said=SceneFile(2.5))
    assert "may be pedestrian, frame, x, y" in told(caplog)[0]


def collection(folder):
    """Three files of TrajNet++ in one folder: the frame numbers of each are its own."""
    (folder / "train").mkdir()
    for name, who, step in (("biwi_hotel", 1, 10), ("crowds_zara02", 7, 10), ("orca_five", 9, 1)):
        lines = [{"scene": {"id": 0, "p": who, "s": 0, "e": 200, "fps": 2.5}}]
        lines += [{"track": {"f": step * k, "p": who, "x": 0.4 * k, "y": 0.0}} for k in range(21)]
        (folder / "train" / f"{name}.ndjson").write_text("\n".join(map(json.dumps, lines)))
    return folder / "train"


def test_each_of_several_files_of_trajnet_is_a_scene_and_their_folder_is_none(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path / "home"))
    train = collection(tmp_path)
    world = EthUcy(scenes=("biwi_hotel", "orca_five"), folder=str(train), length=5.0)
    assert world.files() == [train / "biwi_hotel.ndjson", train / "orca_five.ndjson"]
    for name, who in (("biwi_hotel", 1), ("crowds_zara02", 7), ("orca_five", 9)):
        people = read_scene(name, folder=train).trajectories
        assert people.id.tolist() == [who] and people.mean_speed() == pytest.approx(1.0) and people.end.tolist() == [8.0]
    with pytest.raises(
        InputError, match=r"train: contains 3 TrajNet\+\+ files \(biwi_hotel, crowds_zara02, orca_five\), each of which is"
    ):
        read_scene("train", folder=tmp_path)
    whole = CliRunner().invoke(app, ["data", "import", "eth_ucy", str(train), "--scene", "train"])
    assert f"agora data import eth_ucy {train}/biwi_hotel.ndjson --scene biwi_hotel" in str(whole.exception)
    one = CliRunner().invoke(app, ["data", "import", "eth_ucy", str(train / "orca_five.ndjson"), "--scene", "five"])
    assert one.exit_code == 0, one.output
    assert read_scene("five").trajectories.mean_speed() == pytest.approx(1.0) and not told(caplog)


@pytest.mark.parametrize("name", ["eth", "zara01"])
def test_a_file_of_trajnet_says_its_rate_in_a_folder_with_the_name_of_a_public_scene(tmp_path, name, monkeypatch, caplog):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path / "home"))
    folder = trajnet(tmp_path)
    (folder / "lcas").rename(folder / name)
    assert scene_sources(name, folder) == ("trajnet",)
    assert read_scene(name, folder=folder).trajectories.mean_speed() == pytest.approx(SPEED)
    CliRunner().invoke(app, ["data", "import", "eth_ucy", str(folder / name), "--scene", "mine"])
    assert read_scene("mine").trajectories.mean_speed() == pytest.approx(SPEED) and not told(caplog)
    refused = CliRunner().invoke(app, ["data", "import", "eth_ucy", str(folder / name), "--scene", name])
    assert f"--scene {name}: the data set already has a scene with this name" in str(refused.exception)


def splines(folder):
    folder.mkdir()
    points = "\n".join(f"{100 * k} 50 {25 * k} 0 - (x, y, frame, gaze)" for k in range(5))
    (folder / "annotation.vsp").write_text(f"1 - the number of splines\n5 - Num of control points\n{points}\n")
    return folder


def test_a_scene_without_a_homography_takes_that_of_the_scene_filmed_from_the_same_place(tmp_path, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path / "home"))
    source = splines(tmp_path / "uni_examples")
    arguments = ["data", "import", "eth_ucy", str(source), "--scene", "campus"]
    lacks = CliRunner().invoke(app, arguments)
    assert "add H.txt" in str(lacks.exception) and (
        "put students003, filmed from the same position, next to it or into the data folder"
    ) in str(lacks.exception)
    there = tmp_path / "home" / "eth_ucy" / "students003"
    there.mkdir(parents=True)
    np.savetxt(there / "H.txt", np.diag([0.01, 0.01, 1.0]))
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert read_scene("campus").trajectories.mean_speed() == pytest.approx(1.0)


def test_what_is_said_of_a_scene_that_is_brought_in_names_a_file_that_stays(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path / "home"))
    folder = table(tmp_path, "square", [(12 * k, 4, 2.0 * k, 1.0) for k in range(20)])
    done = CliRunner().invoke(app, ["data", "import", "eth_ucy", str(folder / "square"), "--scene", "sq"])
    assert done.exit_code == 0, done.output
    lines = told(caplog)
    assert len(lines) == 2 and all(f"{folder / 'square'}/" in line and ".part" not in line for line in lines)
    assert not [path for path in (tmp_path / "home" / "eth_ucy").iterdir() if path.name.startswith(".")]
