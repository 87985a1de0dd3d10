"""The settings of a web server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """The settings of a server and of its workers.

    Attributes:
        folder: folder of everything that is kept; each run is a folder of results in its ``runs``.
        database: URL of the database (SQLAlchemy); a file of SQLite in ``folder`` where empty.
        lives: most live episodes at a time.
        executor: executor of the runs' jobs, as `agora bench` takes it; as each run says where empty.
    """

    folder: Path
    database: str = ""
    lives: int = 4
    executor: str = ""

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
