"""The backup of a server: a single file with all its content, which can be restored to any folder and any kind of database.

The file is a gzipped tar. ``tables/`` holds the rows of every table as JSON lines, read in one transaction; ``folder/`` holds the
files. The archive's last member lists the contents of the file, so that truncated files are detected.
"""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

from sqlalchemy import Connection, DateTime, Engine, LargeBinary, MetaData, Table, func, insert, select

from agora import __version__
from agora.errors import InputError
from agora.files import naming
from agora.web.database import migrate, open_database, revision
from agora.web.settings import Settings
from agora.yaml_tree import require_file as refuse_what_is_no_file

TABLES, FOLDER, LAST = "tables", "folder", "agora_backup.json"
"""Parts of a backup's file."""

BATCH = 1000
"""Number of rows that are read or written at a time."""


def back_up(settings: Settings, path: Path, say: Callable[[str], None]) -> dict[str, int]:
    """Write a backup; the server may keep running.

    Args:
        settings: settings of the server.
        path: path of the backup; an existing file is replaced once the new one is complete.
        say: function that shows lines at the terminal.

    Returns:
        The number of rows in each table, and the number of ``files``.

    Raises:
        InputError: there is no such server, or its database cannot be reached. OSError: the file cannot be written.
    """
    if not settings.folder.is_dir():
        raise InputError(f"{settings.folder}: not a server folder")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with naming(path), part.open("wb") as raw:
            with tarfile.open(fileobj=raw, mode="w:gz", compresslevel=1) as tar, open_database(settings.url) as engine:
                counts = _tables_into(tar, engine)
                say(", ".join(f"{count} {name}" for name, count in counts.items()))
                counts["files"] = _folder_into(tar, settings.folder, {path.absolute(), part.absolute()}, say)
                _add(tar, LAST, json.dumps({"agora": __version__, "revision": revision(engine), "counts": counts}).encode())
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return counts


def restore(settings: Settings, path: Path, say: Callable[[str], None]) -> dict[str, int]:
    """Restore a backup into an empty folder and an empty database.

    Args:
        settings: settings of the server, whose database may be of a different kind from the one that was backed up.
        path: file that `back_up` wrote.
        say: function that shows lines at the terminal.

    Returns:
        The number of rows in each table, and the number of ``files``.

    Raises:
        InputError: the file is not a complete backup or comes from a newer version of Agora, or the folder or the database is not
            empty.
        OSError: the folder cannot be written. In these cases, nothing is restored.
    """
    refuse_what_is_no_file(path)
    if settings.folder.exists() and any(settings.folder.iterdir()):
        raise InputError(f"{settings.folder}: expected an empty or new folder")
    held = _look_over(path)
    say(f"restoring a backup of Agora {held['agora']}")
    settings.folder.mkdir(parents=True, exist_ok=True)
    try:
        with open_database(settings.url, held["revision"]) as engine:
            with engine.begin() as connection:
                known = _tables(connection)
                if any(connection.scalar(select(func.count()).select_from(table)) for table in known.values()):
                    raise InputError("the database already contains rows; expected an empty database")
                with tarfile.open(path) as tar:
                    for member in tar:
                        _restore(member, tar, connection, known, settings.folder)
            migrate(engine)
    except BaseException:
        shutil.rmtree(settings.folder, ignore_errors=True)
        raise
    return dict(held["counts"])


def _restore(member: tarfile.TarInfo, tar: tarfile.TarFile, connection: Connection, known: dict[str, Table], folder: Path) -> None:
    """Restore one part of a checked backup."""
    where, _, name = member.name.partition("/")
    source = tar.extractfile(member)
    assert source is not None
    if where == TABLES:
        table = known[name.removesuffix(".jsonl")]
        rows = (_row(line, table) for line in source)
        while batch := [row for row, _ in zip(rows, range(BATCH), strict=False)]:
            connection.execute(insert(table), batch)
    elif where == FOLDER:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with naming(place), place.open("wb") as file:
            while data := source.read(1 << 20):
                file.write(data)
        os.utime(place, (member.mtime, member.mtime))


def _look_over(path: Path) -> dict[str, Any]:
    """Read a backup completely, and return the content of the archive's last member."""
    found, names, last = dict[str, int](), 0, b""
    with _whole(path), tarfile.open(path) as tar:
        for member in tar:
            name = PurePosixPath(member.name)
            if not member.isfile() or name.is_absolute() or ".." in name.parts or member.name.startswith(f"{FOLDER}/agora.sqlite"):
                raise InputError(f"{path}: {member.name!r} does not belong in a backup of agora web")
            source = tar.extractfile(member)
            assert source is not None
            if member.name == LAST:
                last = source.read(1 << 20)
            elif name.parts[0] == TABLES:
                found[name.stem] = sum(1 for _ in source)
            else:
                names += 1
                while source.read(1 << 20):
                    pass
    try:
        held: dict[str, Any] = json.loads(last)
        counts, _ = held["counts"], (held["revision"], held["agora"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a backup of agora web, or incomplete: its last part is missing") from error
    if counts != found | {"files": names}:
        raise InputError(f"{path}: expected {counts}, got {found | {'files': names}}: the backup is incomplete")
    return held


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise InputError(f"{path}: not a backup of agora web, or incomplete: {error}") from error


def _tables(connection: Connection) -> dict[str, Table]:
    """Return the tables in a database, referenced tables first."""
    meta = MetaData()
    meta.reflect(connection)
    return {table.name: table for table in meta.sorted_tables if table.name != "alembic_version"}


def _tables_into(tar: tarfile.TarFile, engine: Engine) -> dict[str, int]:
    """Write the rows of all tables from a single snapshot, and return the number of rows in each table."""
    level = "REPEATABLE READ" if engine.dialect.name == "postgresql" else "SERIALIZABLE"
    counts = {}
    with engine.connect().execution_options(isolation_level=level) as connection:
        tables = _tables(connection)
        connection.rollback()
        if engine.dialect.name == "sqlite":  # by default, the driver begins a transaction only for writes
            connection.exec_driver_sql("BEGIN")
        for name, table in tables.items():
            lines = [_line(row, table) for row in connection.execute(select(table)).mappings()]
            _add(tar, f"{TABLES}/{name}.jsonl", b"".join(lines))
            counts[name] = len(lines)
    return counts


def _folder_into(tar: tarfile.TarFile, folder: Path, without: set[Path], say: Callable[[str], None]) -> int:
    """Write the files in a folder, except those of the database, and return the number of files written."""
    count = size = 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not path.is_file() or path in without or name.startswith("agora.sqlite") or name.endswith(".part"):
            continue
        try:
            file = path.open("rb")
        except FileNotFoundError:
            continue
        with file:
            count, size = count + 1, size + _file_into(tar, f"{FOLDER}/{name}", file)
        if count % 1000 == 0:
            say(f"{count} files, {size / 1e6:.0f} MB")
    return count


def _file_into(tar: tarfile.TarFile, name: str, file: IO[bytes]) -> int:
    """Write a file at its current length, because rows may be appended in the meantime."""
    member, state = tarfile.TarInfo(name), os.fstat(file.fileno())
    member.size, member.mtime = state.st_size, state.st_mtime
    tar.addfile(member, file)
    return member.size


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def _line(row: Any, table: Table) -> bytes:
    """Return a row as a line of JSON: times in ISO format, bytes in base64."""

    def said(value: Any) -> Any:
        if isinstance(value, datetime):
            return value.isoformat()
        return base64.b64encode(value).decode() if isinstance(value, bytes) else value

    return json.dumps({column.name: said(row[column.name]) for column in table.columns}, ensure_ascii=False).encode() + b"\n"


def _row(line: bytes, table: Table) -> dict[str, Any]:
    """Return the table row in a line of JSON."""
    row: dict[str, Any] = json.loads(line)
    for name, value in row.items():
        kind = table.columns[name].type
        if value is not None and isinstance(kind, DateTime):
            row[name] = datetime.fromisoformat(value)
        elif value is not None and isinstance(kind, LargeBinary):
            row[name] = base64.b64decode(value)
    return row
