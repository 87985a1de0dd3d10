"""The live window: honest where there is no screen."""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import pytest

from agora.errors import InputError
from agora.viewer import live
from agora.viewer.scene import Scene
from viewer.synthetic import crash


def window():
    recording = crash()
    return live.LiveWindow(Scene(recording).extent, recording.radius, recording.goal, recording.goal_tolerance, recording.map)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a screen")
def test_without_a_screen_the_error_says_what_to_do_instead(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(InputError, match="no screen.*replay"):
        window()


def test_a_backend_that_opens_no_windows_is_named_and_leaves_no_figure(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":77")
    plt.switch_backend("agg")
    with pytest.raises(InputError, match="'agg' cannot open windows"):
        window()
    assert not plt.get_fignums()


def test_moments_replace_one_another_the_path_grows_and_a_closed_window_stays_closed(monkeypatch):
    plt.switch_backend("agg")
    monkeypatch.setattr(live, "_window", lambda title: plt.figure(num=title))
    shown, scene = window(), Scene(crash())
    axes = plt.gcf().axes[0]
    shown.show(scene.at(3.0))
    count = len(axes.collections)
    for time in (3.1, 3.2):
        shown.show(scene.at(time))
    assert len(axes.collections) == count and shown.open
    assert len(axes.lines[1].get_xdata()) == 3
    shown.close()
    assert not shown.open
    shown.show(scene.at(4.0))
