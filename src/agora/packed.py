"""Images and arrays in files of users: they are small when packed, so their size is looked at before they are unpacked."""

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
    """Open an image with Pillow, of which nothing but the head is read yet; its user looks at the size and then asks for pixels.

    The file is read at once: Pillow asks a file for as many bytes as a chunk says that it has, and Python makes room for them all.

    Args:
        path: path of the file.
        formats: formats that are expected; any that Pillow knows where None.

    Raises:
        InputError: it is no such image, or is damaged. FileNotFoundError: there is no such file.
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
        raise InputError(f"{path}: not a readable image ({error or 'its size is wrong'})") from error


@contextmanager
def arrays_of(stream: BinaryIO, where: str, most: int) -> Iterator[Any]:
    """Open a file of arrays (``.npz``), which takes no more memory than declared.

    Args:
        stream: the file, in which one can go back.
        where: names it in messages.
        most: most bytes of all its arrays together.

    Raises:
        InputError: it unpacks to more. zipfile.BadZipFile, ValueError, OSError: it is no such file.
    """
    with zipfile.ZipFile(stream) as packed:
        size = sum(part.file_size for part in packed.infolist())
    if size > most:
        raise InputError(f"{where}: decompresses to {size:,} bytes; expected at most {most:,}")
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as arrays:
        yield arrays
