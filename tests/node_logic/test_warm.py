"""The kernels of a ROS graph are compiled before it is up, and not twice."""

from __future__ import annotations

import shutil

import numba
import pytest

from agora.errors import InputError
from agora.node_logic.warm import Compiled, warm_episode
from agora.robots.model import load_robot


def test_a_mark_is_of_one_thing_and_goes_with_the_kernels(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kernels"))
    assert not Compiled("teb in the hall")
    Compiled("teb in the hall").mark()
    assert Compiled("teb in the hall") and not Compiled("dwa in the hall")
    shutil.rmtree(tmp_path / "kernels")
    assert not Compiled("teb in the hall")


def refused():
    return load_robot("jackl")


def test_an_episode_that_cannot_be_made_is_refused_as_where_it_is_made():
    with pytest.raises(InputError, match="did you mean 'jackal'"):
        warm_episode(refused, [])
