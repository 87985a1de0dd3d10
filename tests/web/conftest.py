"""Databases and servers for the tests of the web application."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agora.web.settings import Settings

POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
"""PostgreSQL as Debian installs it, away from the path."""


@pytest.fixture
def settings(tmp_path) -> Settings:
    """A server's folder, with a database of SQLite."""
    made = Settings(tmp_path / "web")
    made.runs.mkdir(parents=True)
    return made


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL that was started for the tests, by a user who may: it refuses root."""
    binaries = POSTGRES[-1].parent
    user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    place = Path(tempfile.mkdtemp(prefix="pg"))
    shutil.chown(place, user)

    def call(program: str, *arguments: str) -> None:
        chosen = {"user": user} if os.getuid() == 0 else {}
        subprocess.run([binaries / program, *arguments], check=True, capture_output=True, cwd=place, timeout=60, **chosen)

    call("initdb", "-D", f"{place}/data", "-U", "agora", "--auth=trust", "--no-sync")
    call("pg_ctl", "-D", f"{place}/data", "-w", "-l", f"{place}/log", "-o", f"-k {place} -c listen_addresses=''", "start")
    call("createdb", "-h", str(place), "-U", "agora", "agora")
    yield f"postgresql+psycopg://agora@/agora?host={place}"
    call("pg_ctl", "-D", f"{place}/data", "-m", "immediate", "stop")
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(params=["sqlite", *(["postgres"] if POSTGRES else [])])
def url(request, tmp_path) -> str:
    """A database of each kind that is here, without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'crooked name.sqlite'}"
    from sqlalchemy import create_engine, text

    found = request.getfixturevalue("postgres")
    engine = create_engine(found)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return found
