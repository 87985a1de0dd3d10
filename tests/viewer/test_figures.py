"""The picture of an episode: what is on it, and the same bytes every time."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import PatchCollection

from agora.core.state import SOCIAL_STATES
from agora.errors import InputError
from agora.viewer.figures import draw_frame, save, style, trajectory_figure
from agora.viewer.scene import COLOURS, STATES, Scene
from viewer.synthetic import crash, episode, hall


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_the_same_episode_gives_the_same_bytes(tmp_path, kind):
    first = save(trajectory_figure(crash(), title="a"), tmp_path / f"1.{kind}", dpi=60).read_bytes()
    second = save(trajectory_figure(crash(), title="a"), tmp_path / f"2.{kind}", dpi=60).read_bytes()
    assert first == second and len(first) > 1000


def test_a_users_matplotlib_settings_change_nothing_and_stay_as_they_were(tmp_path):
    plain = save(trajectory_figure(crash()), tmp_path / "1.png", dpi=50).read_bytes()
    with matplotlib.rc_context({"font.size": 21, "axes.facecolor": "red", "lines.linewidth": 9}):
        changed = save(trajectory_figure(crash()), tmp_path / "2.png", dpi=50).read_bytes()
        assert matplotlib.rcParams["font.size"] == 21
    assert plain == changed


def test_no_picture_needs_pyplot_and_the_viewer_is_imported_without_matplotlib():
    code = (
        "import sys, agora.viewer.figures, agora.viewer.scene, agora.viewer.replay, agora.viewer.video, agora.viewer.live\n"
        "assert not {'matplotlib', 'av', 'jinja2'} & set(sys.modules)\n"
        "sys.path.insert(0, 'tests')\n"
        "from viewer.synthetic import episode\n"
        "agora.viewer.figures.trajectory_figure(episode())\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_axes_are_true_to_scale_and_show_the_extent():
    recording = crash()
    axes = trajectory_figure(recording).axes[0]
    extent = Scene(recording).extent
    assert axes.get_aspect() == 1.0
    assert (*axes.get_xlim(), *axes.get_ylim()) == pytest.approx((extent.left, extent.right, extent.bottom, extent.top))


def test_the_last_moment_shows_every_pedestrian_at_its_place():
    recording = crash()
    frame = Scene(recording).at(recording.time[-1])
    axes = trajectory_figure(recording, moments=1).axes[0]
    discs = [path for drawn in axes.collections if isinstance(drawn, PatchCollection) for path in drawn.get_paths()]
    centres = [(path.get_extents().min + path.get_extents().max) / 2 for path in discs]
    for place in [*frame.position, frame.robot[:2]]:
        assert np.hypot(*(np.array(centres) - place).T).min() < 1e-6


def test_every_wall_of_the_map_is_drawn_at_its_place():
    axes = trajectory_figure(episode(pedestrians=0, surroundings=hall())).axes[0]
    (image,) = axes.images
    assert image.get_extent() == pytest.approx([-3.7, -3.7 + 110 * 0.15, 2.3, 2.3 + 70 * 0.15])
    np.testing.assert_array_equal(~np.ma.getmaskarray(image.get_array()), hall().occupied)
    assert sum(patch.get_facecolor()[:3] == matplotlib.colors.to_rgb(COLOURS["wall"]) for patch in axes.patches) == 3


def test_nobody_no_map_and_a_single_sample_make_a_picture_too(tmp_path):
    one = episode(pedestrians=0, duration=0.0)
    assert save(trajectory_figure(one), tmp_path / "a.png", dpi=40).exists()
    assert save(trajectory_figure(replace(crash(), map=None), focus=1.0), tmp_path / "b.png", dpi=40).exists()


def test_pedestrians_far_away_are_shown_at_the_last_moment_only():
    far = episode(pedestrians=1, duration=10.0)
    far.pedestrian_position[:] = [60.0, -40.0]
    counts = []
    for moments in (1, 4):
        drawn = trajectory_figure(far, moments=moments).axes[0].collections
        counts.append(sum(len(c.get_paths()) for c in drawn if isinstance(c, PatchCollection)))
    assert counts == [2, 6]


def test_a_frame_can_be_added_to_any_axes():
    with style():
        axes = trajectory_figure(episode(pedestrians=2)).axes[0]
        before = len(axes.collections)
        draw_frame(axes, Scene(episode(pedestrians=2)).at(3.0), 0.27, trails=False)
    assert len(axes.collections) == before + 2


def test_other_kinds_of_file_and_no_moments_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.png, \.pdf, \.svg"):
        save(trajectory_figure(episode(pedestrians=0)), tmp_path / "a.bmp")
    with pytest.raises(InputError, match="moments"):
        trajectory_figure(episode(pedestrians=0), moments=0)


def test_social_states_are_coloured_lettered_and_in_the_legend():
    plain = episode(pedestrians=5)
    states = np.full(plain.pedestrian_present.shape, SOCIAL_STATES.index("walking"))
    states[:, 2] = SOCIAL_STATES.index("talking")
    shown = replace(plain, pedestrian_state=states, pedestrian_present=np.ones_like(plain.pedestrian_present))
    figure = trajectory_figure(shown, moments=1)
    words = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert "T  talking" in words
    assert not any("walking" in word for word in words)
    assert [text.get_text() for text in figure.axes[0].texts if text.get_text() == "T"] == ["T"]
    assert len(figure.legends) == 2
    assert len(trajectory_figure(plain, moments=1).legends) == 1


def test_every_social_state_has_a_letter_of_its_own():
    letters = [STATES[name][1] for name in SOCIAL_STATES]
    assert len(set(letters)) == len(SOCIAL_STATES)


def test_a_figure_that_the_disk_has_no_room_for_leaves_the_one_before(tmp_path, monkeypatch):
    figure, path = trajectory_figure(crash()), tmp_path / "crash.pdf"
    save(figure, path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"crash.pdf: cannot be written: No space left on device"):
        save(figure, path)
    assert path.read_bytes() == before and [each.name for each in tmp_path.iterdir()] == ["crash.pdf"]
