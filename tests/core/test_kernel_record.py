"""Records for kernels: the numbers of a component under the names of its fields, in the types of the kernels."""

from __future__ import annotations

import importlib
import pickle
import re
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import agora
from agora.core.jit import bind, kernel
from agora.core.kernel_record import kernel_record
from agora.ranges import Count, Length, Speed


@dataclass(frozen=True)
class Walker:
    """A component with every kind of field."""

    tolerance: Length = 0.1
    samples: Count = 7
    prune: bool = True
    most: Speed | None = None
    seed: int = 3
    way: Literal["left", "right"] = "right"
    offsets: tuple[float, ...] = (0.5, 1.5)


Parameters = kernel_record(
    "Parameters", Walker, limits=("most",), without=("seed",), computed=("period",), others=("right", "offsets", "steps")
)


def filled(walker: Walker, period: float = 0.1) -> Parameters:
    offsets = np.array(walker.offsets, np.float32)
    return Parameters.of(walker, period=period, right=walker.way == "right", offsets=offsets, steps=round(1.0 / period))


@kernel
def _sum(p, out, first, last):
    for w in range(first, last):
        total = p.tolerance + p.period + p.offsets[1] + np.float32(p.samples + p.steps)
        out[w] = min(total, p.most) if p.prune and p.right else np.float32(0.0)


def test_numbers_keep_the_names_and_the_order_of_the_fields():
    assert Parameters._fields == ("tolerance", "samples", "prune", "most", "period", "right", "offsets", "steps")


def test_numbers_are_float32_counts_are_int_and_flags_are_bool():
    record = filled(Walker(tolerance=1, samples=np.int32(4), most=2))
    assert [type(value) for value in record] == [np.float32, int, bool, np.float32, np.float32, bool, np.ndarray, int]
    assert record[:4] == (1.0, 4, True, 2.0)


def test_a_limit_of_none_is_infinite():
    assert filled(Walker()).most == np.inf
    assert filled(Walker(most=1.1)).most == np.float32(1.1)


@pytest.mark.parametrize("period", [0.1, np.float64(0.1), 2])
def test_computed_numbers_are_float32_whatever_their_type(period):
    record = filled(Walker(tolerance=1.0 / 3.0), period)
    assert type(record.period) is np.float32 and record.period == np.float32(period)
    assert record.tolerance == np.float32(1.0 / 3.0)


def test_a_kernel_reads_a_record():
    out = np.zeros(2, np.float32)
    _sum(filled(Walker()), out, 0, 1)
    assert out.tolist() == [np.float32(0.1) + np.float32(0.1) + np.float32(1.5) + np.float32(17.0), 0.0]
    _sum(filled(Walker(most=1.25)), out, 1, 2)
    assert out[1] == 1.25


@kernel
def _far(p, out, first, last):
    for w in range(first, last):
        out[w] = p.far


def test_records_of_two_modules_with_the_same_name_and_types_are_not_confused():
    out = np.zeros(2, np.float32)
    for w, names in enumerate([("far", "near"), ("near", "far")]):
        fields = [(name, float, {"far": 2.0, "near": 1.0}[name]) for name in names]
        component = make_dataclass("Component", fields, frozen=True, namespace={"__module__": f"tests.core.module_{w}"})
        bind(_far, kernel_record("Parameters", component).of(component()), out)(w, w + 1)
    assert out.tolist() == [2.0, 2.0]


def test_the_class_is_found_under_its_name_as_numba_s_cache_needs():
    assert pickle.loads(pickle.dumps(Parameters)) is Parameters
    assert pickle.loads(pickle.dumps(filled(Walker(offsets=(1.0, 2.0)))))[:4] == filled(Walker())[:4]


SOURCE = Path(agora.__file__).parent
RECORDS = [
    (".".join(("agora", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"), name)
    for path in sorted(SOURCE.rglob("*.py"))
    for name in re.findall(r"^(\w+) = kernel_record\(", path.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize(("module", "name"), RECORDS)
def test_every_record_of_the_library_is_found_under_its_name(module, name):
    record = getattr(importlib.import_module(module), name)
    assert pickle.loads(pickle.dumps(record)) is record


@pytest.mark.parametrize("given", [{}, {"period": 0.1, "other": 2.0}])
def test_every_computed_value_must_be_given_and_no_other(given):
    record = kernel_record("Parameters", Walker, computed=("period",))
    with pytest.raises(TypeError):
        record.of(Walker(), **given)


@pytest.mark.parametrize("word", ["limits", "without"])
def test_an_unknown_field_is_an_error(word):
    with pytest.raises(ValueError, match="Walker has no field toleranse"):
        kernel_record("Parameters", Walker, **{word: ("toleranse",)})


def test_a_computed_value_takes_the_place_of_a_field():
    record = kernel_record("Parameters", Walker, computed=("tolerance",))
    assert record.of(Walker(), tolerance=0.25).tolerance == 0.25
