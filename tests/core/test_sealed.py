"""Damaged files of the cache: whatever bit is flipped and wherever they end, a kernel does the same, and nothing crashes."""

from __future__ import annotations

import logging
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from agora.core.sealed import seal, unseal

KERNEL = """\
import os
import sys
import numpy as np
from agora.core.jit import bind, device, lean_kernel

@device
def twice(value):
    return 2.0 * value

@lean_kernel
def add(values, first, last):
    for row in range(first, last):
        values[row] += 1.5

for line in sys.stdin:  # each line is a process that loads the kernel, so that a crash ends one round alone
    child = os.fork()
    if child:
        print(os.waitpid(child, 0)[1], flush=True)
        continue
    values = np.arange(3.0)
    if line.strip() == "kernel":
        bind(add, values)(0, 3)
        assert values.tolist() == [1.5, 2.5, 3.5]
    assert twice(4.0) == 8.0
    os._exit(0)
"""


def test_data_come_back_and_a_damaged_file_is_said_once_and_removed(tmp_path, caplog):
    path = tmp_path / "x.nbc"
    assert unseal(path) is None and not caplog.records
    path.write_bytes(seal(b"machine code"))
    assert unseal(path) == b"machine code"
    whole = path.read_bytes()
    for damaged in (b"", whole[:-1], whole[:5], bytes([whole[0] ^ 1]) + whole[1:], whole[:-1] + bytes([whole[-1] ^ 128])):
        caplog.clear()
        path.write_bytes(damaged)
        assert [unseal(path), unseal(path)] == [None, None] and not path.exists()
        assert [record.message for record in caplog.records] == [f"{path} is damaged and will be created again"]
        assert caplog.records[0].levelno == logging.WARNING


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A process that loads kernels anew for each line, and the folder of their cache, in which they are."""
    place = tmp_path_factory.mktemp("kernels")
    (place / "kernel.py").write_text(KERNEL)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(place / "cache")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    with (place / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, str(place / "kernel.py")],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )

    def load(what: str = "function") -> tuple[int, str]:
        before = (place / "log").stat().st_size
        process.stdin.write(f"{what}\n")
        process.stdin.flush()
        return int(process.stdout.readline()), (place / "log").read_text()[before:]

    def files(name: str) -> list[Path]:
        return sorted(path for path in (place / "cache").rglob(f"kernel.{name}*") if path.suffix in (".nbi", ".nbc"))

    assert load("kernel") == (0, "")
    with process:  # it ends with its input
        yield load, files
    assert process.returncode == 0


def damages(data: bytes, draw: random.Random) -> list[bytes]:
    """A file that is empty, that ends too early, and that has a flipped bit, twice."""
    places = [draw.randrange(len(data)) for _ in range(2)]
    flipped = [data[:k] + bytes([data[k] ^ (1 << draw.randrange(8))]) + data[k + 1 :] for k in places]
    return [b"", data[: draw.randrange(1, len(data))], *flipped]


def test_a_damaged_file_of_a_function_is_compiled_again_and_the_result_is_the_same(kept):
    load, files = kept
    draw = random.Random(11)
    index, code = sorted(files("twice"), key=lambda path: path.suffix, reverse=True)
    assert (index.suffix, code.suffix) == (".nbi", ".nbc")
    for path in (index, code):
        for damaged in damages(path.read_bytes(), draw):
            path.write_bytes(damaged)
            assert load() == (0, f"{path} is damaged and will be created again\n")
    assert load() == (0, ""), "the last one was kept again"


def test_a_damaged_file_of_a_bound_kernel_is_too_and_one_that_is_gone_is_compiled_without_a_word(kept):
    load, files = kept
    (code,) = (path for path in files("add_shell") if path.suffix == ".nbc")
    whole = bytearray(code.read_bytes())
    whole[len(whole) // 2] ^= 4
    code.write_bytes(whole)
    assert load("kernel") == (0, f"{code} is damaged and will be created again\n")
    for path in files("twice"):
        path.unlink()
    assert load() == (0, "")
