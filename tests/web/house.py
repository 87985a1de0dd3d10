"""A server with accounts for tests, and people who are signed in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from fastapi.testclient import TestClient
from sqlalchemy import Engine, update
from sqlalchemy.orm import Session

from agora.web._accounts.keys import Keys
from agora.web._accounts.tables import Key
from agora.web._accounts.users import Users
from agora.web._tables import now
from agora.web.app import create_app
from agora.web.database import open_database
from agora.web.settings import Quotas, Settings

HOST, ORIGIN = "agora.example", "http://agora.example"
PASSWORD = "a donkey on the roof"


@dataclass
class House:
    """A server with accounts.

    Attributes:
        app: application.
        engine: engine of its database.
        stack: closes what was opened.
    """

    app: object
    engine: Engine
    stack: ExitStack

    @property
    def users(self) -> Users:
        return Users(self.engine, Quotas())

    @property
    def keys(self) -> Keys:
        return Keys(self.engine)

    def stranger(self, address: str = "192.0.2.7", **headers: str) -> TestClient:
        """A browser that nobody has signed in with; pages of the server ask by it."""
        client = TestClient(self.app, headers={"host": HOST, "origin": ORIGIN, **headers}, client=(address, 50000))
        client.portal = self.stack.portal  # one loop serves all, as in a server
        return client

    def program(self, token: str) -> TestClient:
        """A program with a token, which says no origin."""
        client = self.stranger(authorization=f"Bearer {token}")
        del client.headers["origin"]
        return client

    def person(self, name: str, role: str = "run") -> TestClient:
        """The browser of somebody new who is signed in."""
        browser = self.stranger()
        taken = browser.post("/api/invitation", json={"token": self.users.invite(role), "name": name, "password": PASSWORD})
        assert taken.status_code == 201, taken.text
        return browser

    def age(self, **columns: object) -> None:
        """Change columns of all keys."""
        with Session(self.engine) as session:
            session.execute(update(Key).values(**columns))
            session.commit()

    def expire(self) -> None:
        """Let all keys be over."""
        self.age(expires=now())


@contextmanager
def opened_house(settings: Settings) -> Iterator[House]:
    """A server with accounts while the block runs."""
    with ExitStack() as stack:
        engine = stack.enter_context(open_database(settings.url))
        app = create_app(settings, engine)
        first = stack.enter_context(TestClient(app))
        stack.portal = first.portal
        yield House(app, engine, stack)
