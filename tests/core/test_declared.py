"""The declared arrays of a record are those that there are: in memory, in allocations, in files."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.core.declared import axes, declared_arrays, empty_arrays, find_misfit
from agora.core.recording import Recording
from agora.testing.recordings import recording


@dataclasses.dataclass(frozen=True)
class Walk:
    place: np.ndarray = dataclasses.field(metadata=axes("T P 2", stored=np.float32))
    step: np.ndarray = dataclasses.field(metadata=axes("T-1 P"))
    id: np.ndarray = dataclasses.field(metadata=axes("P", np.int32))
    mood: np.ndarray | None = dataclasses.field(default=None, metadata=axes("T"))
    name: str = ""


def test_a_record_says_its_arrays_in_their_order():
    found = declared_arrays(Walk)
    assert list(found) == ["place", "step", "id", "mood"]
    assert found["place"].stored is np.float32 and found["id"].stored is np.int32
    assert [one.optional for one in found.values()] == [False, False, False, True]
    assert str(found["step"]) == "(T-1, P)" and str(found["id"]) == "(P,)"


@pytest.mark.parametrize("samples", [0, 1, 5])
def test_what_is_allocated_has_the_axes_that_are_said(samples):
    made = empty_arrays(Walk, ["place", "step", "id"], T=samples, P=3)
    assert made["place"].shape == (samples, 3, 2) and made["step"].shape == (max(samples - 1, 0), 3)
    assert made["id"].dtype == np.int32 and made["place"].dtype == np.float64
    assert find_misfit(Walk, made) == ""


def test_an_array_that_does_not_fit_the_others_is_named():
    fits = empty_arrays(Walk, ["place", "step", "id"], T=4, P=3)
    assert find_misfit(Walk, fits | {"id": np.zeros(2)}) == "id: expected an array (P,) with P = 3, got (2,)"
    assert find_misfit(Walk, fits | {"step": np.zeros((4, 3))}) == "step: expected an array (T-1, P) with T = 4, P = 3, got (4, 3)"
    assert find_misfit(Walk, fits | {"mood": np.zeros((4, 1))}) == "mood: expected an array (T,) with T = 4, got (4, 1)"
    assert find_misfit(Walk, fits | {"place": np.zeros((4, 3, 3))}).startswith("place: expected an array (T, P, 2)")


@pytest.mark.parametrize("pedestrians", [0, 1, 4])
def test_recordings_are_as_they_say(pedestrians):
    made = recording(seed=3, pedestrians=pedestrians)
    assert find_misfit(Recording, vars(made)) == ""
    for name, one in declared_arrays(Recording).items():
        array = getattr(made, name)
        assert array is None or array.dtype == one.kind, name
