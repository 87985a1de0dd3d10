"""Packs worlds into zip archives, and unpacks such archives safely."""

from __future__ import annotations

import io
import re
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from agora.errors import InputError

MOST_ENTRIES, MOST_UNPACKED = 2_000, 64 << 20
"""Maximum number of entries in an archive, and maximum unpacked size, bytes."""

UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029<>]")
"""Characters that file names must not contain: control characters and markup characters."""

_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def unpack_archive(data: bytes, name: str) -> dict[str, bytes]:
    """Return the files in a zip archive by path; folders are omitted.

    Args:
        data: the archive.
        name: name of the archive, for messages.

    Raises:
        InputError: the data is not an archive, is damaged, has too many entries, or is too large when unpacked; or an entry is
            outside the archive's folder, is a link, occurs twice, or is encrypted.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ENTRIES:
                raise InputError(f"{name}: has {len(entries):,} entries; expected at most {MOST_ENTRIES:,}")
            for entry in entries:
                _check(entry, name)
            if sum(entry.file_size for entry in entries) > MOST_UNPACKED:
                raise InputError(f"{name}: is larger than {MOST_UNPACKED >> 20} MiB when it is unpacked")
            return _read(archive, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise InputError(f"{name}: not a readable zip archive: {error}") from error


def _check(entry: zipfile.ZipInfo, name: str) -> None:
    """Reject entries other than files and folders inside the archive."""
    path, shown = entry.filename, UNFIT.sub("?", entry.filename)[:80]
    if UNFIT.search(path):
        raise InputError(f"{name}: an entry has control characters or < > in its name: {shown!r}")
    if "\\" in path or path.startswith("/") or ":" in path or ".." in PurePosixPath(path).parts:
        raise InputError(f"{name}: the entry {shown!r} points outside the archive's root folder")
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise InputError(f"{name}: the entry {shown!r} is a link or a device; expected files and folders")
    if entry.flag_bits & 1:
        raise InputError(f"{name}: the entry {shown!r} is encrypted")
    if entry.compress_type not in _PACKED:
        raise InputError(
            f"{name}: the entry {shown!r} uses an unsupported compression method; use the default method of zip programs"
        )


def _read(archive: zipfile.ZipFile, name: str) -> dict[str, bytes]:
    """Return the contents of all files; unpacking stops at the size limit for archives, regardless of the declared sizes."""
    files: dict[str, bytes] = {}
    left = MOST_UNPACKED
    for entry in archive.infolist():
        if entry.is_dir():
            continue
        path = str(PurePosixPath(entry.filename))
        if path in files:
            raise InputError(f"{name}: the entry {path!r} occurs twice")
        with archive.open(entry) as file:
            files[path] = file.read(left + 1)
        left -= len(files[path])
        if left < 0:
            raise InputError(f"{name}: is larger than {MOST_UNPACKED >> 20} MiB when it is unpacked")
    return files


def pack_folder(folder: Path) -> bytes:
    """Return a folder as a zip archive that contains the folder under its name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            if path.is_file() and not any(part.startswith(".") for part in inside.parts):
                archive.write(path, f"{folder.name}/{inside.as_posix()}")
    return packed.getvalue()
