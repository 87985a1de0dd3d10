"""Owners and sizes of user content in the server's folder, such as scenarios and worlds."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Engine, delete, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from agora.web._accounts.tables import Owned


class Ownership:
    """The owned files and folders of a server.

    Args:
        engine: engine of the database.
        places: for each kind of content, a function that returns the path of the file or folder for a name; the file or folder need
            not exist.
    """

    def __init__(self, engine: Engine, places: Mapping[str, Callable[[str], Path]]) -> None:
        self._engine, self._places = engine, places

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of owned content."""
        return tuple(self._places)

    def owner(self, kind: str, name: str) -> str | None:
        """Return the name of the owner; empty for content without an owner, None if the content does not exist."""
        if not self._places[kind](name).exists():
            return None
        with Session(self._engine) as session:
            found = session.get(Owned, (kind, name))
            return found.owner if found is not None else ""

    def owners(self, kind: str) -> dict[str, str]:
        """Return the owners of all owned content of a kind, by name of the content."""
        with Session(self._engine) as session:
            return {one.name: one.owner for one in session.scalars(select(Owned).where(Owned.kind == kind))}

    def put(self, owner: str, *new: tuple[str, str]) -> None:
        """Record the owner of new content, given as pairs of kind and name; an empty ``owner`` means no owner.

        If the database cannot be written, for instance because the disk is full, the content is removed again and the error is
        raised.
        """
        try:
            with Session(self._engine) as session:
                for kind, name in new:
                    session.execute(delete(Owned).where(Owned.kind == kind, Owned.name == name))
                    if owner:
                        session.add(Owned(kind=kind, name=name, owner=owner))
                session.commit()
        except SQLAlchemyError:
            for kind, name in new:
                _remove(self._places[kind](name))
            raise

    def forget(self, kind: str, name: str) -> None:
        """Remove the record of who owned deleted content. If the database cannot be written, the record is overwritten when new
        content gets this name.
        """
        with suppress(SQLAlchemyError), Session(self._engine) as session:
            session.execute(delete(Owned).where(Owned.kind == kind, Owned.name == name))
            session.commit()

    def of(self, owner: str) -> list[Path]:
        """Return the existing files and folders of an owner."""
        with Session(self._engine) as session:
            found = session.scalars(select(Owned).where(Owned.owner == owner)).all()
        places = [self._places[one.kind](one.name) for one in found if one.kind in self._places]
        return [place for place in places if place.exists()]


def _remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)


def size_of(place: Path) -> int:
    """Return the size in bytes of a file, or of all files in a folder; files that disappear in the meantime are not counted."""
    if not place.is_dir():
        return _bytes(place)
    return sum(_bytes(Path(folder) / name) for folder, _, names in os.walk(place) for name in names)


def _bytes(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
