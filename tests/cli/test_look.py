"""``agora look``: pictures and films of what a robot's camera sees."""

from __future__ import annotations

import av
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from agora.cli.app import app

SMALL = ["--camera", "width=32,height=24", "--stage", "hall"]


def look(*words):
    return CliRunner().invoke(app, ["look", "demo", *map(str, words)])


def test_a_picture_shows_what_is_asked_for_side_by_side(tmp_path):
    answer = look(*SMALL, "--time", 0.5, "--show", "rgb,depth,segmentation", "-o", tmp_path / "seen.png")
    assert answer.exit_code == 0, answer.output
    assert "camera view of robot 0 at 0.5 s" in answer.output
    picture = np.array(Image.open(tmp_path / "seen.png"))
    assert picture.shape == (24, 96, 3) and all(len(np.unique(part)) > 2 for part in np.split(picture, 3, axis=1))
    assert [path.name for path in tmp_path.iterdir()] == ["seen.png"]


def test_a_film_has_a_picture_for_each_control_period(tmp_path):
    answer = look(*SMALL, "--time", 0.8, "-o", tmp_path / "seen.mp4")
    assert answer.exit_code == 0, answer.output
    with av.open(str(tmp_path / "seen.mp4")) as film:
        pictures = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
        assert float(film.streams.video[0].average_rate) == pytest.approx(10.0)
    assert len(pictures) == 9 and pictures[0].shape == (24, 32, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["seen.mp4"]


def test_the_same_episode_gives_the_same_picture(tmp_path):
    for name in ("one", "other"):
        assert look(*SMALL, "--time", 0.5, "-o", tmp_path / f"{name}.png").exit_code == 0
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()


@pytest.mark.parametrize(("x", "inside"), [(0.0, True), (1.0, False)])
def test_a_camera_inside_a_wall_is_told_of(x, inside, tmp_path):
    camera = f"fixed=true,x={x},y=4,z=1,width=32,height=24"
    answer = look("--stage", "doorway", "--time", 0.2, "--camera", camera, "-o", tmp_path / "seen.png")
    assert ("the camera is inside a wall" in answer.output) == inside
    assert (np.array(Image.open(tmp_path / "seen.png")) == 0).all() == inside


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "seen.gif"), "expected a name that ends in .png or .mp4"),
        (("-o", "nowhere/seen.png"), "seen.png: cannot be written; expected a file name in an existing, writable folder"),
        (("-o", "seen.png", "--robot", 4), "expected 0 to 0, got 4"),
        (("-o", "seen.png", "--show", "colour"), "expected one or more of rgb, depth, segmentation, got colour"),
        (("-o", "seen.png", "--camera", "wdth=3"), "did you mean 'width'"),
        (("-o", "seen.png", "--camera", "view=9"), "view"),
        (("-o", "seen.png", "--camera", "jackal,width=32"), "robot 'jackal' has no camera"),
        (("-o", "seen.png", "--camera", "jackal_rgb"), "did you mean 'jackal_rgbd'"),
        (("-o", "seen.png", "--episode", 9000), "has episodes 0 to"),
        (("-o", "seen.mp4", "--camera", "width=33"), "even width and height"),
    ],
)
def test_what_cannot_be_shown_is_said(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = look(*words)
    assert answer.exit_code != 0 and said in f"{answer.output}{answer.exception}"
    assert not list(tmp_path.iterdir())
