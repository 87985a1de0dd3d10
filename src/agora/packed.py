"""Reads images and arrays from user files. Their size is checked before they are unpacked, because compressed files may be small
but expand to any size.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from agora.errors import InputError

__all__ = ["arrays_of", "image_of"]

_LARGEST_IMAGE = 500_000_000  # bytes of a file


@contextmanager
def image_of(path: Path, formats: tuple[str, ...] | None = None) -> Iterator[Any]:
    """Open an image with Pillow, decoding only its header; the caller checks the size before it requests the pixels.

    The whole file is read into memory first: Pillow requests as many bytes as a chunk claims to have, and Python would otherwise
    allocate all of them.

    Args:
        path: path of the file.
        formats: accepted formats; None for any format that Pillow supports.

    Raises:
        InputError: the file is not an image in one of these formats, or is damaged. FileNotFoundError: the file does not exist.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        if path.stat().st_size > _LARGEST_IMAGE:
            raise InputError(f"{path}: expected an image of at most {_LARGEST_IMAGE // 1_000_000} MB")
        with Image.open(io.BytesIO(path.read_bytes()), formats=formats) as image:
            yield image
    except FileNotFoundError:
        raise
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError, MemoryError) as error:
        raise InputError(f"{path}: not a readable image ({error or 'invalid size'})") from error


@contextmanager
def arrays_of(stream: BinaryIO, where: str, most: int) -> Iterator[Any]:
    """Open a file with arrays (``.npz``), and make sure that it takes no more memory than it declares.

    Args:
        stream: the file; it must be seekable.
        where: name of the file in messages.
        most: maximum total size of the arrays, bytes.

    Raises:
        InputError: the arrays are larger than ``most`` when unpacked. zipfile.BadZipFile, ValueError, OSError: the file is not a
            valid array file.
    """
    with zipfile.ZipFile(stream) as packed:
        size = sum(part.file_size for part in packed.infolist())
    if size > most:
        raise InputError(f"{where}: decompresses to {size:,} bytes; expected at most {most:,}")
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as arrays:
        yield arrays
