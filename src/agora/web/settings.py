"""The settings of a web server."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from agora.config import load
from agora.ranges import Checked, Natural, Positive

LIMITS = "web.yaml"
"""Name of the file in a server's folder with the limits of its users."""


@dataclass(frozen=True)
class Quotas(Checked):
    """The most that a person with an account may have; administrators have no such limits.

    Attributes:
        runs: waiting and active runs at a time.
        episodes: episodes per run, over all its planners.
        processors: workers per run times threads of each.
        lives: live episodes at a time.
        results: results of all runs, MiB.
        uploads: number of own scenarios, worlds and other content.
        upload_size: size of these, MiB.
    """

    runs: Natural = 4
    episodes: Natural = 20_000
    processors: Natural = 4
    lives: Natural = 4
    results: Natural = 4096
    uploads: Natural = 200
    upload_size: Natural = 256


@dataclass(frozen=True)
class Rates(Checked):
    """The rate limits of a server with accounts.

    Attributes:
        requests: long-term rate of requests of a person, or of an address without sign-in, 1/s.
        burst: size of a burst of requests.
        attempts: long-term rate of attempts to sign in, per name and per address, 1/min.
        attempts_burst: size of a burst of attempts.
    """

    requests: Positive = 20.0
    burst: Natural = 300
    attempts: Positive = 4.0
    attempts_burst: Natural = 10


@dataclass(frozen=True)
class Limits(Checked):
    """The limits of a server: the file ``web.yaml`` in its folder.

    Attributes:
        quotas: limits of a person.
        rates: limits of request rates.
        lives: live episodes of all users at a time.
        code: whether users who may start runs may upload planners as code, which runs confined.
    """

    quotas: Quotas = field(default_factory=Quotas)
    rates: Rates = field(default_factory=Rates)
    lives: Natural = 4
    code: bool = False


def read_limits(folder: Path) -> Limits:
    """Return the limits of a server's folder; without a file, the defaults.

    Raises:
        InputError: the file has unknown keys or wrong values; the message says line, key and nearest name.
    """
    path = folder / LIMITS
    return load(path, Limits) if path.exists() else Limits()


@dataclass(frozen=True)
class Settings:
    """The settings of a server and of its workers.

    Attributes:
        folder: folder of all stored data; each run is a folder of results in its ``runs``.
        database: URL of the database (SQLAlchemy); if empty, an SQLite file in ``folder``.
        executor: executor of the runs' jobs, in the format of `agora bench`; if empty, each run's own setting.
        accounts: whether people need an account.
        names: host names of a server with accounts, without port; any if empty.
        proxies: addresses of trusted proxies, in addition to those of this machine.
        limits: limits of people with an account, and of live episodes.
        allow_code: allow planners as code, regardless of the limits.
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
        """Folder of users' scenarios."""
        return self.folder / "scenarios"

    @property
    def policies(self) -> Path:
        """Folder of users' policies."""
        return self.folder / "policies"

    @property
    def planners(self) -> Path:
        """Folder of users' planners, which are code."""
        return self.folder / "planners"

    @property
    def code(self) -> bool:
        """True if planners may be uploaded as code."""
        return self.allow_code or self.limits.code

    @property
    def worlds(self) -> Path:
        """Folder of users' worlds."""
        return self.folder / "worlds"
