"""Damaged data sets: whatever happens to a file, reading it succeeds or is an InputError, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from agora.datasets import barn, dynabarn, socnavbench
from agora.datasets.eth_ucy import map_of_image, read_homography, read_scene
from agora.errors import InputError


def read_picture(folder):
    map_of_image(folder / "map.png", read_homography(folder / "H.txt"), name="m", resolution=0.5)


def make_picture(folder):
    folder.mkdir(exist_ok=True)
    Image.fromarray(np.eye(20, 30, dtype=np.uint8) * 255).save(folder / "map.png")
    (folder / "H.txt").write_text("0.1 0.01 -3\n0 0.2 1\n0.001 0.0 1\n")


READERS = {
    "barn": barn.check,
    "dynabarn": dynabarn.check,
    "socnavbench": socnavbench.check,
    "zara01": lambda folder: read_scene("zara01", "annotation", folder=folder),
    "picture": read_picture,
}
NEW = [
    b"",
    b"0",
    b"-",
    b"9",
    b"1e999",
    b"1e30",
    b"nan",
    b" ",
    b"\n",
    b",",
    b".",
    b"]",
    b"{",
    b'"',
    b"<",
    b"\xff",
    b"\0",
    b"7777777",
]


@pytest.fixture(scope="module")
def originals(tmp_path_factory, small_barn, small_dynabarn, small_socnavbench, crooked_zara):
    makers = [small_barn, small_dynabarn, small_socnavbench, crooked_zara, make_picture]
    made = {}
    for (name, read), make in zip(READERS.items(), makers, strict=True):
        folder = tmp_path_factory.mktemp(name) / "set"
        make(folder)
        read(folder)
        made[name] = folder, {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return made


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 1), length=st.integers(0, 8), new=st.lists(st.sampled_from(NEW), max_size=3), which=st.integers(0, 9))
def test_a_damaged_file_is_read_or_refused(originals, name, place, length, new, which):
    folder, files = originals[name]
    path = list(files)[which % len(files)]
    content = files[path]
    at = int(place * len(content))
    path.write_bytes(content[:at] + b"".join(new) + content[at + length :])
    try:
        READERS[name](folder)
    except InputError as error:
        assert str(error)
    finally:
        path.write_bytes(content)
