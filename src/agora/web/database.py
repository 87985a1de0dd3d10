"""The database: its engine, and the migration of its tables to the latest version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from agora.errors import InputError

_ARGUMENTS: dict[str, dict[str, Any]] = {
    "sqlite": {"timeout": 30.0},  # maximum time that a statement waits for another process, s
    "postgresql": {"client_encoding": "utf8"},  # decode strings regardless of the database's encoding
}

_ALONE = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "SELECT pg_advisory_xact_lock(20261127)"}
"""Statements that prevent other processes from changing the tables until the transaction ends."""


@contextmanager
def open_database(url: str, version: str = "head") -> Iterator[Engine]:
    """Return a context manager that opens a database, migrates its tables, and closes its connections at the end.

    Args:
        url: URL of the database, such as ``sqlite:///PATH`` or ``postgresql+psycopg://USER@HOST/NAME``.
        version: version to which its tables are migrated; the latest by default.

    Raises:
        InputError: the URL is invalid, the database cannot be reached, or the version is unknown.
    """
    try:
        if (kind := make_url(url).get_backend_name()) not in _ARGUMENTS:
            raise InputError(f"database {url!r}: expected one of sqlite and postgresql, got {kind}")
        engine = create_engine(url, connect_args=_ARGUMENTS[kind], pool_pre_ping=True)
        if _is_file(url):
            event.listen(engine, "connect", _be_durable)
        migrate(engine, version)
    except (ArgumentError, CommandError, ModuleNotFoundError) as error:
        raise InputError(f"database {url!r}: {error}") from error
    except SQLAlchemyError as error:
        engine.dispose()
        raise InputError(f"database {make_url(url).render_as_string()}: {getattr(error, 'orig', None) or error}") from error
    try:
        yield engine
    finally:
        engine.dispose()


def migrate(engine: Engine, version: str = "head") -> None:
    """Migrate the tables to a version, the latest by default; programs that start at the same time do this one after another."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    wanted = ScriptDirectory.from_config(config).get_revision(version)
    if wanted is not None and wanted.revision == revision(engine):
        return
    with engine.begin() as connection:
        connection.exec_driver_sql(_ALONE[engine.dialect.name])
        config.attributes["connection"] = connection
        command.upgrade(config, version)


def revision(engine: Engine) -> str:
    """Return the version of the tables."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision() or ""


def _is_file(url: str) -> bool:
    return make_url(url).get_backend_name() == "sqlite"


def _be_durable(connection: Any, record: Any) -> None:
    """Configure SQLite so that readers and a writer can work at the same time, and every commit is on the disk before it is
    acknowledged.
    """
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()
