"""The settings of a web server."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from agora.config import load
from agora.errors import InputError

LIMITS = "web.yaml"
"""Name of the file in a server's folder that says the limits of its users."""


def _check_positive(record: Any) -> None:
    for one in fields(record):
        if not getattr(record, one.name) > 0:
            raise InputError(f"{one.name}: expected a number above 0, got {getattr(record, one.name)}")


@dataclass(frozen=True)
class Quotas:
    """The most that a person with an account may have; administrators have no such limits.

    Attributes:
        runs: runs that wait or are under way, at a time.
        episodes: episodes of a run, over all its planners.
        processors: workers of a run times threads of each.
        lives: live episodes, at a time.
        results: results of all runs, MiB.
        uploads: own scenarios, worlds and other things that pages keep.
        upload_size: size of these, MiB.
    """

    runs: int = 4
    episodes: int = 20_000
    processors: int = 4
    lives: int = 4
    results: int = 4096
    uploads: int = 200
    upload_size: int = 256

    def __post_init__(self) -> None:
        _check_positive(self)


@dataclass(frozen=True)
class Rates:
    """The rates at which somebody may ask a server with accounts.

    Attributes:
        requests: requests of a person, or of an address where nobody is signed in, in the long run, 1/s.
        burst: requests at once.
        attempts: attempts to sign in with a name, and as many again from an address, in the long run, 1/min.
        attempts_burst: attempts at once.
    """

    requests: float = 20.0
    burst: int = 300
    attempts: float = 4.0
    attempts_burst: int = 10

    def __post_init__(self) -> None:
        _check_positive(self)


@dataclass(frozen=True)
class Limits:
    """The limits of a server: the file ``web.yaml`` in its folder.

    Attributes:
        quotas: the most that a person may have.
        rates: how often somebody may ask.
        lives: live episodes of everybody together, at a time.
        code: whether who may run things may bring planners as code, which runs confined.
    """

    quotas: Quotas = field(default_factory=Quotas)
    rates: Rates = field(default_factory=Rates)
    lives: int = 4
    code: bool = False

    def __post_init__(self) -> None:
        if self.lives < 1:
            raise InputError(f"lives: expected at least 1, got {self.lives}")


def read_limits(folder: Path) -> Limits:
    """Return the limits of a server's folder, the usual ones where it has no file of them.

    Raises:
        InputError: the file has unknown keys or wrong values; the message says line, key and nearest name.
    """
    path = folder / LIMITS
    return load(path, Limits) if path.exists() else Limits()


@dataclass(frozen=True)
class Settings:
    """The settings of a server and of its workers.

    Attributes:
        folder: folder of everything that is kept; each run is a folder of results in its ``runs``.
        database: URL of the database (SQLAlchemy); a file of SQLite in ``folder`` where empty.
        executor: executor of the runs' jobs, as `agora bench` takes it; as each run says where empty.
        accounts: whether people need an account.
        names: names by which a server with accounts is asked, without port; any where empty.
        proxies: addresses of proxies that say who asks, besides those of this machine.
        limits: limits of people with an account, and of live episodes.
        allow_code: allow planners as code, whatever the limits say.
    """

    folder: Path
    database: str = ""
    executor: str = ""
    accounts: bool = False
    names: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    allow_code: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder).absolute())

    @property
    def url(self) -> str:
        """URL of the database."""
        return self.database or f"sqlite:///{self.folder / 'agora.sqlite'}"

    @property
    def runs(self) -> Path:
        """Folder of the folders of results."""
        return self.folder / "runs"

    @property
    def scenarios(self) -> Path:
        """Folder of the own scenarios."""
        return self.folder / "scenarios"

    @property
    def policies(self) -> Path:
        """Folder of the own policies."""
        return self.folder / "policies"

    @property
    def planners(self) -> Path:
        """Folder of the own planners, which are code."""
        return self.folder / "planners"

    @property
    def code(self) -> bool:
        """True where planners may be brought along as code."""
        return self.allow_code or self.limits.code

    @property
    def worlds(self) -> Path:
        """Folder of the own worlds."""
        return self.folder / "worlds"
