"""A potential is the gradient it says, vanishes far away, and comes out of its file as it went in."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from safetensors.numpy import save_file

from agora.errors import InputError, UnknownNameError
from agora.pedestrians.shared.potential import Potential, load_potential, potential_names

B = np.linspace(0.0, 4.0, 81)


def some(**changes):
    values = {"rate": [-2.0, -0.7, -5.0], "offset": [0.4, -1.0, 2.0], "weight": [0.8, 0.3, -0.2]}
    return Potential(**{k: np.array(v, np.float32) for k, v in (values | changes).items()})


def test_slope_is_the_derivative_of_the_value():
    h = 1e-5
    difference = (some().value(B + h) - some().value(B - h)) / (2 * h)
    assert some().slope(B) == pytest.approx(difference, rel=1e-6, abs=1e-9)


def test_it_vanishes_far_away():
    assert abs(some().value(60.0)) < 1e-12
    assert abs(some().slope(60.0)) < 1e-12


def test_the_exponential_is_that_of_helbing_and_molnar():
    made = Potential.exponential(2.1, 0.3)
    assert made.value(B) == pytest.approx(2.1 * np.exp(-B / 0.3), rel=1e-5)
    assert made.slope(B) == pytest.approx(-7.0 * np.exp(-B / 0.3), rel=1e-5)


def test_a_file_gives_back_what_was_saved(tmp_path):
    made = dataclasses.replace(some(), about={"seed": "3"})
    made.save(tmp_path / "new" / "mine.safetensors")
    back = load_potential(tmp_path / "new" / "mine.safetensors")
    assert all(np.array_equal(getattr(back, n), getattr(made, n)) for n in ("rate", "offset", "weight"))
    assert back.about == {"seed": "3"}
    assert not back.rate.flags.writeable


def test_a_file_that_changes_is_read_again(tmp_path):
    import os

    path = tmp_path / "mine.safetensors"
    some().save(path)
    before = load_potential(str(path))
    some(weight=[1.0, 1.0, 1.0]).save(path)
    os.utime(path, ns=(1, 1))
    assert not np.array_equal(load_potential(str(path)).weight, before.weight)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rate": [-1.0, 0.0, -1.0]}, "a rate is not below 0"),
        ({"weight": [1.0, np.nan, 1.0]}, "not finite"),
        ({"offset": [1.0]}, "three arrays"),
        ({"rate": [], "offset": [], "weight": []}, "three arrays"),
    ],
)
def test_arrays_that_make_no_potential_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        some(**changes)


def test_files_that_hold_none_are_refused_by_path(tmp_path):
    path = tmp_path / "mine.safetensors"
    for content, message in ((b"no", "not a safetensors file"), (None, "there is no such file")):
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)
        with pytest.raises(InputError, match=f"mine.safetensors: {message}"):
            load_potential(path)
    save_file({"rate": np.zeros(3)}, path)
    with pytest.raises(InputError, match=r"mine.safetensors: expected float32 arrays offset, rate and weight, got rate float64"):
        load_potential(path)
    save_file({n: np.ones(2, np.float32) for n in ("rate", "offset", "weight")}, path)
    with pytest.raises(InputError, match=r"mine.safetensors: potential: a rate is not below 0"):
        load_potential(path)


def test_the_nearest_name_is_given():
    assert {"deep_social_force", "helbing_1995"} <= set(potential_names())
    with pytest.raises(UnknownNameError, match="did you mean 'helbing_1995'"):
        load_potential("helbing_199")


def test_shipped_potentials_say_how_they_were_made_and_repel():
    for name in potential_names():
        shipped = load_potential(name)
        assert {"label", "data"} <= set(shipped.about)
        assert (shipped.slope(B) < 0.0).all()
    about = load_potential("deep_social_force").about
    assert {"command", "seed", "samples"} <= set(about)
