"""A bound kernel does what the called one does, whatever it was bound to before."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features
from numba.core.registry import cpu_target

from agora.core.jit import _FEATURES, bind, device, lean_kernel


class Pair(NamedTuple):
    """Two of anything."""

    one: Any
    other: Any


class Riap(NamedTuple):
    """The same the other way round."""

    other: Any
    one: Any


Namesake = namedtuple("Pair", ["other", "one"])  # noqa: PYI024 - a class of the same name, with its fields in another order


@lean_kernel
def weigh(values, pair, out, first, last):
    """Sum up rows, one part of the pair as a factor, the other as an addend."""
    for row in range(first, last):
        total = pair.other
        for column in range(values.shape[1]):
            total += values[row, column] * pair.one
        out[row] = total


@device
def product(one, other):
    """Multiply matrices, for which Numba takes SciPy's linear algebra."""
    return np.dot(one, other)


def frozen(values):
    """The same, not to be written to."""
    values = values.copy()
    values.flags.writeable = False
    return values


VALUES = np.arange(1.0, 13.0).reshape(3, 4) ** 2
ARGUMENTS = {
    "contiguous": (VALUES, Pair(2.0, 0.5)),
    "every other column": (np.repeat(VALUES, 2, axis=1)[:, ::2], Pair(2.0, 0.5)),
    "backwards": (VALUES[::-1, ::-1], Pair(2.0, 0.5)),
    "columns first": (np.asfortranarray(VALUES), Pair(2.0, 0.5)),
    "read-only": (frozen(VALUES), Pair(2.0, 0.5)),
    "single precision": (VALUES.astype(np.float32), Pair(2.0, 0.5)),
    "numbers of another type": (VALUES, Pair(np.int32(3), 0.5)),
    "a truth": (VALUES, Pair(True, 0.5)),
    "names in another order": (VALUES, Riap(2.0, 0.5)),
    "another class of the same name": (VALUES, Namesake(2.0, 0.5)),
}


@pytest.mark.parametrize("turned", [False, True])
def test_what_a_kernel_is_bound_to_is_told_by_type_layout_and_names(turned):
    for what, (values, pair) in list(ARGUMENTS.items())[:: -1 if turned else 1] * 2:
        out = np.zeros(5)[1:4]
        bind(weigh, values, pair, out)(0, 3)
        expected = values.astype(float).sum(axis=1) * float(pair.one) + float(pair.other)
        assert out == pytest.approx(expected), what


def test_a_bound_kernel_reads_and_writes_the_arrays_themselves_in_its_rows_alone():
    values, out = VALUES.copy(), np.full(3, -1.0)
    call = bind(weigh, values, Pair(1.0, 0.0), out)
    values[1] = 7.0
    call(1, 2)
    assert out.tolist() == [-1.0, 28.0, -1.0]
    weigh(values, Pair(1.0, 0.0), out, 0, 1)
    assert out.tolist() == [30.0, 28.0, -1.0]


def test_a_compiled_function_multiplies_matrices():
    one, other = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[3.0, 0.0], [1.0, 4.0]])
    assert product(one, other).tolist() == [[5.0, 8.0], [0.5, -4.0]]


def test_processes_that_need_the_same_kernel_compile_it_once(tmp_path):
    """Both begin with an empty cache at once; the second waits, and loads what the first has compiled.

    Neither imports SciPy's linear algebra, which would take longer than all else that a process does before its first kernel.
    """
    (tmp_path / "shared_kernel.py").write_text(
        "import gc\n"
        "from agora.core.jit import lean_kernel\n"
        "from agora.core.compiling import seconds_compiling\n"
        "@lean_kernel\n"
        "def add(values, first, last):\n"
        "    for row in range(first, last):\n"
        "        values[row] += 1.0\n"
        "if __name__ == '__main__':\n"
        "    import numpy as np, sys\n"
        "    import shared_kernel\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    values = np.zeros(3)\n"
        "    shared_kernel.add(values, 0, 3)\n"
        "    assert values.tolist() == [1.0, 1.0, 1.0] and gc.isenabled() and seconds_compiling() > 0.0\n"
        "    assert 'scipy.linalg' not in sys.modules\n"
        "    print(sum(shared_kernel.add.stats.cache_misses.values()))\n"
    )
    how = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "text": True,
        "env": os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
    }
    some = [subprocess.Popen([sys.executable, "shared_kernel.py"], cwd=tmp_path, **how) for _ in range(2)]
    assert [one.stdout.readline() for one in some] == ["ready\n"] * 2
    for one in some:
        one.stdin.write("go\n")
        one.stdin.flush()
    assert sorted(one.communicate()[0] for one in some) == ["0\n", "1\n"]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder in which nobody can make another")
def test_a_process_that_cannot_write_into_the_cache_compiles_for_itself_and_keeps_nothing(tmp_path):
    (tmp_path / "own_kernel.py").write_text(
        "from agora.core.jit import device\n@device\ndef twice(x):\n    return 2.0 * x\nprint(twice(1.5))\n"
    )
    env = os.environ | {"NUMBA_CACHE_DIR": "/proc/no_such_folder"}
    said = subprocess.run([sys.executable, "own_kernel.py"], cwd=tmp_path, env=env, check=True, capture_output=True, text=True)
    assert said.stdout == "3.0\n" and [path.name for path in tmp_path.iterdir()] == ["own_kernel.py"]


@pytest.mark.skipif("NUMBA_CPU_NAME" in os.environ or "NUMBA_CPU_FEATURES" in os.environ, reason="the user has chosen")
def test_kernels_are_compiled_alike_on_every_processor_that_has_avx2():
    here, wanted = get_host_cpu_features(), _FEATURES.replace("+", "").split(",")
    _, processor, features = cpu_target.target_context.codegen().magic_tuple()
    if all(here.get(name) for name in wanted):
        assert processor == "haswell" and "+avx2" in features and "+fma" in features and "avx512" not in features
    else:
        assert processor != "haswell"
