"""The settings of a web server."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from agora.config import load
from agora.ranges import Checked, Natural, Positive

LIMITS = "web.yaml"
"""Name of the file in a server's folder that sets its users' limits."""


@dataclass(frozen=True)
class Quotas(Checked):
    """Limits for a person with an account; they do not apply to administrators.

    Attributes:
        runs: maximum number of runs that are waiting or active at the same time.
        episodes: maximum number of episodes per run, over all of the run's planners.
        processors: maximum number of workers per run times the number of threads per worker.
        lives: maximum number of live episodes at the same time.
        results: maximum size of the results of all runs, MiB.
        uploads: maximum number of the person's scenarios, worlds and other content.
        upload_size: maximum total size of this content, MiB.
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
        requests: long-term rate of requests per person, or per address if no one is signed in, 1/s.
        burst: maximum size of a burst of requests.
        attempts: long-term rate of sign-in attempts, per name and per address, 1/min.
        attempts_burst: maximum size of a burst of sign-in attempts.
    """

    requests: Positive = 20.0
    burst: Natural = 300
    attempts: Positive = 4.0
    attempts_burst: Natural = 10


@dataclass(frozen=True)
class Limits(Checked):
    """The limits of a server: the file ``web.yaml`` in its folder.

    Attributes:
        quotas: limits per person.
        rates: rate limits for requests.
        lives: maximum number of live episodes of all users at the same time.
        code: whether users who may start runs may upload planners as code, which runs in a sandbox.
    """

    quotas: Quotas = field(default_factory=Quotas)
    rates: Rates = field(default_factory=Rates)
    lives: Natural = 4
    code: bool = False


def read_limits(folder: Path) -> Limits:
    """Return the limits in a server's folder; the defaults if the file does not exist.

    Raises:
        InputError: the file has unknown keys or invalid values; the message gives the line, the key and the nearest name.
    """
    path = folder / LIMITS
    return load(path, Limits) if path.exists() else Limits()


@dataclass(frozen=True)
class Settings:
    """The settings of a server and of its workers.

    Attributes:
        folder: folder of all stored data; each run is a results folder in its subfolder ``runs``.
        database: URL of the database (SQLAlchemy); if empty, an SQLite file in ``folder``.
        executor: executor of the runs' jobs, in the format of `agora bench`; if empty, the setting of each run.
        accounts: whether people need an account.
        names: host names of a server with accounts, without the port; if empty, any name is accepted.
        proxies: addresses of trusted proxies, in addition to those of this machine.
        limits: limits for people with accounts, and for live episodes.
        allow_code: whether planners may be uploaded as code regardless of ``limits``.
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
        """Folder that contains the results folders."""
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
        """Folder of users' planners uploaded as code."""
        return self.folder / "planners"

    @property
    def code(self) -> bool:
        """True if planners may be uploaded as code."""
        return self.allow_code or self.limits.code

    @property
    def worlds(self) -> Path:
        """Folder of users' worlds."""
        return self.folder / "worlds"
