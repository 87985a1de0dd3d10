"""Names the files of an export, and writes them without overwriting existing files."""

from __future__ import annotations

from pathlib import Path

from agora.datasets.played import PlayedEpisode
from agora.errors import ResultsError
from agora.files import write_whole


def file_name(played: PlayedEpisode) -> str:
    """Return the name of an episode's file without the extension: ``suite.stage.episode.planner``."""
    return f"{played.entry}/{played.robots[0].planner}".replace("/", ".")


def refuse_existing(path: Path) -> None:
    """Make sure that a file does not exist. Raises: ResultsError: the file exists."""
    if path.exists():
        raise ResultsError(f"{path}: already exists; choose another folder")


def write_new(path: Path, content: bytes) -> Path:
    """Write a new file atomically, and return its path.

    Raises:
        ResultsError: the file exists or cannot be written.
    """
    refuse_existing(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror or error}") from error
    return path
