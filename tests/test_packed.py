"""Images and arrays of users that say that they are larger than they are, or are much larger than they look."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from PIL import Image

from agora.errors import InputError
from agora.maps.exact import read_exact
from agora.maps.io import read_map
from agora.maps.place import read_place
from agora.packed import image_of

YAML = "image: f.png\nresolution: 0.25\norigin: [-3.5, 1.25, 0.0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n"
LIMIT = 200_000_000  # bytes; what the files say is a thousand times as much


def chunk(kind: bytes, data: bytes, length: int) -> bytes:
    return struct.pack(">I", length) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@pytest.fixture
def world(tmp_path):
    (tmp_path / "map").mkdir()
    (tmp_path / "map" / "map.yaml").write_text(YAML)
    Image.fromarray(np.full((7, 9), 254, np.uint8)).save(tmp_path / "map" / "f.png")
    return tmp_path


@pytest.mark.parametrize("kind", [b"tEXt", b"zTXt", b"iCCP", b"IDAT", b"PLTE"])
@pytest.mark.parametrize("length", [2**31 - 1, 2**32 - 1])
def test_an_image_with_a_false_length_of_a_chunk_is_refused_without_taking_that_much_memory(world, kind, length):
    path = world / "map" / "f.png"
    whole = path.read_bytes()
    path.write_bytes(whole[:33] + chunk(kind, b"", length) + whole[33:])
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="f.png: not a readable image"):
            read_map(world / "map" / "map.yaml")
        assert tracemalloc.get_traced_memory()[1] < LIMIT
    finally:
        tracemalloc.stop()


def test_an_image_that_is_not_there_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError), image_of(tmp_path / "none.png"):
        pass


@pytest.mark.parametrize("shape", [(70_000, 14_000), (7, 9, 10_000_000), (7,), (9, 7)])
def test_heights_that_are_not_those_of_the_map_are_refused_before_they_are_unpacked(world, shape):
    ground = np.broadcast_to(np.float32(0.0), shape)
    assert read_place(world).map.shape == (7, 9)
    if ground.size > 10**8:  # packed without being in memory: the head alone says the size
        write_large(world / "map" / "ground.npz", shape)
    else:
        np.savez_compressed(world / "map" / "ground.npz", ground=ground)
    with pytest.raises(InputError, match=r"ground.npz: (decompresses to|ground: expected one height per cell, 7 x 9)"):
        read_place(world)


def test_heights_of_the_map_are_read(world):
    heights = np.arange(63.0).reshape(7, 9) / 100.0
    np.savez_compressed(world / "map" / "ground.npz", ground=heights)
    assert read_place(world).map.ground == pytest.approx(heights)


def test_a_kept_map_that_unpacks_to_more_than_a_map_can_have_is_refused(tmp_path):
    write_large(tmp_path / "map.npz", (70_000, 14_000))
    with pytest.raises(InputError, match="decompresses to 3,920,000,128 bytes; expected at most 500,000,000"):
        read_exact(tmp_path / "map.npz")


def write_large(path, shape):
    """Write a file that says that it holds so many zeros; its packed data are short."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": shape})
    data = head.getvalue()
    said = len(data) + 4 * int(np.prod(shape))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("ground.npy", data)
    whole = bytearray(path.read_bytes())
    central = whole.index(b"PK\x01\x02")
    whole[central + 24 : central + 28] = struct.pack("<I", said)  # the size in the directory, where readers look
    path.write_bytes(whole)
