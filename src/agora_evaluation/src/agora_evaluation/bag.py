"""Writes bags that stay readable if the process is killed or the disk fills up."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import rosbag
import rospy

FLUSH = 0.5
"""Wall time after which written messages are on disk, s; if the process is killed, only messages younger than this are lost."""


class EpisodeBag:
    """A bag that is named ``<name>.bag.active`` until it is closed, and ``<name>.bag`` afterwards.

    Chunks are closed and written to disk every `FLUSH` s of wall time. Messages may be written from any thread.

    Args:
        path: path of the bag, ``<name>.bag``; if this bag or an unfinished one already exists, a number is appended to the name.

    Attributes:
        problem: reason why writing has stopped; empty if there is no problem.

    Raises:
        OSError: the file cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self.path = _free(path)
        self.problem = ""
        self._active = self.path.with_name(self.path.name + ".active")
        self._lock = threading.Lock()
        self._bag: Any = rosbag.Bag(str(self._active), "w")
        self._file = self._bag._file
        self._ended = threading.Event()
        self._flusher = threading.Thread(target=self._flush_now_and_then, daemon=True)
        self._flusher.start()

    def write(self, topic: str, message: Any) -> None:
        """Write a typed message or a raw ``rospy.AnyMsg``. After a write has failed, nothing more is written."""
        raw = isinstance(message, rospy.AnyMsg)
        header = {}
        if raw:
            sent = message._connection_header
            header = {"topic": topic, **{name: sent[name] for name in ("type", "md5sum", "message_definition")}}
            message = (header["type"], message._buff, header["md5sum"], _Type(header))
        with self._lock:
            if self._bag is not None and not self.problem:
                self._attempt(self._bag.write, topic, message, rospy.get_rostime(), raw, header or None)

    def close(self) -> None:
        """Write the index and give the file its final name."""
        self._ended.set()
        self._flusher.join()
        with self._lock:
            if self._bag is None:
                return
            if not self.problem:
                self._attempt(self._bag.close)
            if not self.problem:
                self._attempt(self._active.rename, self.path)
            with suppress(OSError, ValueError):
                self._file.close()
            self._bag = None

    def _flush_now_and_then(self) -> None:
        while not self._ended.wait(FLUSH):
            with self._lock:
                if not self.problem:
                    self._attempt(self._write_out)

    def _write_out(self) -> None:
        self._bag.flush()
        self._file.flush()

    def _attempt(self, do: Any, *arguments: Any) -> None:
        try:
            do(*arguments)
        except (OSError, ValueError, rosbag.ROSBagException) as error:
            self.problem = f"{self._active}: cannot be written: {getattr(error, 'strerror', None) or error}"
            rospy.logerr("%s; recording stops, and everything recorded so far is kept; free some disk space", self.problem)


class _Type:
    """The type of a raw message, with the attributes that rosbag needs."""

    def __init__(self, header: dict[str, str]) -> None:
        self._md5sum, self._type, self._full_text = header["md5sum"], header["type"], header["message_definition"]


def _free(path: Path) -> Path:
    """Return a path that is not used by a finished or an interrupted bag."""
    number, tried = 2, path
    while tried.exists() or tried.with_name(tried.name + ".active").exists():
        tried = path.with_name(f"{path.stem}_{number}.bag")
        number += 1
    return tried


def check_folder(folder: Path) -> None:
    """Create a folder, and test it by creating and deleting a file in it.

    Raises:
        OSError: one of these steps failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / f".probe.{os.getpid()}"
    probe.write_bytes(b"\0" * 4096)
    probe.unlink()
