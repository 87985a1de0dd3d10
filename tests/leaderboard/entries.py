"""Forgeries of an entry: changes of its files, and of everything that describes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agora.benchmark.redrive import Drive, write_drives
from agora.benchmark.request import Options
from agora.benchmark.results import store
from agora.config import dump
from agora.leaderboard.entry import DRIVES, ENTRY, ROWS, EntryResults, digest_of
from agora.leaderboard.entry_folder import read_claims, read_entry

HERE = Options(workers=0)


def edit(folder: Path, old: str, new: str) -> Path:
    """Replace a text of ``entry.yaml``."""
    text = (folder / ENTRY).read_text()
    assert text.count(old) == 1, old
    (folder / ENTRY).write_text(text.replace(old, new))
    return folder


def rewrite(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write the rows of a file anew, and all that says what they are."""
    store.write_rows(folder / name, rows)
    return sign(folder, name, EntryResults.of(rows) if name == ROWS else None)


def change(folder: Path, key: str, name: str = ROWS, **columns: object) -> Path:
    """Change a row of a file."""
    posted = read_entry(folder)
    rows = posted.rows if name == ROWS else posted.timing
    return rewrite(folder, name, [{**row, **columns} if row["key"] == key else row for row in rows])


def drive(folder: Path, drives: Mapping[str, Drive]) -> Path:
    """Write other commands."""
    write_drives(folder / DRIVES, drives)
    return sign(folder, DRIVES)


def sign(folder: Path, name: str, results: EntryResults | None = None) -> Path:
    """Update the digest of a file in ``entry.yaml``."""
    claims = read_claims(folder)
    files = {**claims.files, name: digest_of(folder / name)}
    (folder / ENTRY).write_text(dump(dataclasses.replace(claims, files=files, results=results or claims.results)))
    return folder
