"""Databases, servers and browsers for the tests of the web application."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fastapi.routing
import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from pydantic import TypeAdapter

from agora.web.app import create_app
from agora.web.database import open_database
from agora.web.settings import Settings
from tests.web.browsing import CHROMIUM, PATIENCE
from tests.web.documented import model_of
from tests.web.house import House, opened_house

POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
"""PostgreSQL as Debian installs it, away from the path."""


@pytest.fixture(autouse=True)
def _responses_match_their_models(monkeypatch) -> None:
    """Every response of a server in this process matches its model, and has the bytes of what its function returned."""
    serialize = fastapi.routing.serialize_response

    async def check(*, field=None, response_content=None, **others):
        sent = await serialize(field=field, response_content=response_content, **others)
        if (model := model_of(field)) is not None:
            plain = TypeAdapter(dict[str, Any] if isinstance(response_content, dict) else list[dict[str, Any]])
            assert sent == plain.dump_json(response_content)
            TypeAdapter(model).validate_json(sent, strict=True)
        return sent

    monkeypatch.setattr(fastapi.routing, "serialize_response", check)


@pytest.fixture
def settings(tmp_path) -> Settings:
    """A server's folder, with a database of SQLite."""
    made = Settings(tmp_path / "web")
    made.runs.mkdir(parents=True)
    return made


@pytest.fixture
def client(settings) -> Iterator[TestClient]:
    """A client of a server without accounts."""
    with (
        open_database(settings.url) as engine,
        TestClient(create_app(settings, engine), headers={"host": "127.0.0.1:8080"}) as found,
    ):
        yield found


@pytest.fixture
def quick(monkeypatch) -> None:
    """Passwords are hashed at little cost."""
    monkeypatch.setattr("agora.web._accounts.passwords.HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture
def house(settings, quick) -> Iterator[House]:
    """A server with accounts and the usual limits."""
    with opened_house(replace(settings, accounts=True)) as found:
        yield found


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The folder of a server for a module of walks."""
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def address(folder, request) -> Iterator[str]:
    """The address of a server as a person starts it, with the module's ``OPTIONS``."""
    words = [
        Path(sys.executable).with_name("agora"),
        "web",
        folder,
        "--port",
        "0",
        "--no-browser",
        *getattr(request.module, "OPTIONS", ()),
    ]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        said = next(line for line in server.stderr if "Agora is at" in line)
        yield re.search(r"http://\S+?(?=/)", said)[0]
        server.terminate()


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def context(request, browser, address):
    """A person with a browser as wide as a tablet, in light colours or as a parameter says."""
    from playwright.sync_api import expect

    scheme = getattr(request, "param", "light")
    found = browser.new_context(viewport={"width": 834, "height": 1100}, color_scheme=scheme, base_url=address)
    found.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    yield found
    found.close()


@pytest.fixture
def page(context):
    """A page; whatever goes wrong in it is a failure, but for what the server does not have or refuses."""
    found, wrong = context.new_page(), []
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    yield found
    assert [said for said in wrong if not re.search("status of 4(0[49]|22)", said)] == []
