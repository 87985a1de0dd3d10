"""Joins the files of a split recording, as written by ``rosbag record --split``: ``NAME_0.bag``, ``NAME_1.bag`` ..."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agora.datasets.bagfile import Bag, Connection, Message
from agora.datasets.mcapfile import McapFile, opened
from agora.errors import InputError

_NAME = re.compile(r"(?P<name>.*?)(?:_?(?P<date>\d{4}(?:-\d\d){5}))?_(?P<number>\d+)\.bag(?:\.active)?")
_PAUSE = 5.0  # s, maximum time between the last message of a part and the first message of the next part
_FIRST = 3  # number of messages at the start of a file that may include messages of the recorder itself


@dataclass(frozen=True)
class Parts:
    """A recording that consists of several files.

    Attributes:
        files: files, in order.
    """

    files: tuple[Bag | McapFile, ...]

    @property
    def path(self) -> Path:
        """The path of the first file."""
        return self.files[0].path

    @property
    def name(self) -> str:
        """The common part of the files' names."""
        return re.sub(r"_\d+$", "", self.files[0].name)

    @property
    def cut(self) -> str:
        """Description of the problems found in the files so far; empty if no problem was found."""
        return "; ".join(f"{file.path.name} {file.cut}" for file in self.files if file.cut)

    @property
    def connections(self) -> dict[tuple[int, int], Connection]:
        """The connections of all files, by file number and connection number."""
        return {(n, number): one for n, file in enumerate(self.files) for number, one in file.connections.items()}

    def messages(self, topics: Collection[str] | None = None) -> Iterator[Message]:
        """Yield the messages of the given topics, or of all topics, file by file, in the order in which they were written.

        Raises:
            InputError: a file cannot be read.
        """
        for file in self.files:
            yield from file.messages(topics)


Source = Bag | McapFile | Parts
"""Any object from which messages can be read."""


def joined(paths: Iterable[Path], left_out: list[str] | None = None) -> list[Source]:
    """Return the recordings in the given files. Files with consecutive numbers and consecutive times form a single recording.

    Each bag from Agora's recorder is a separate recording: the recorder numbers episodes in the way in which the parts of a split
    bag are numbered.

    Args:
        paths: paths of the files.
        left_out: list to which, for each file that cannot be opened, the reason is appended. If None, the first such file raises
            an error.

    Raises:
        InputError: a file cannot be opened.
    """
    alike: dict[tuple[Path, str], list[Path]] = {}
    for path in paths:
        found = _NAME.fullmatch(path.name)
        alike.setdefault((path.parent, found["name"] if found else path.name), []).append(path)
    recordings: list[list[Path]] = []
    for files in alike.values():
        for n, path in enumerate(sorted(files, key=_order)):
            if n and _goes_on(recordings[-1][-1], path):
                recordings[-1].append(path)
            else:
                recordings.append([path])
    sources: list[Source] = []
    for files in recordings:
        try:
            sources.append(Parts(tuple(map(opened, files))) if len(files) > 1 else opened(files[0]))
        except InputError as error:
            if left_out is None:
                raise
            left_out.append(str(error))
    return sources


def _order(path: Path) -> tuple[str, int]:
    """Return the date and the number in the name of a part, for sorting."""
    found = _NAME.fullmatch(path.name)
    return (found["date"] or "", int(found["number"])) if found else ("", 0)


def _goes_on(path: Path, after: Path) -> bool:
    """Return whether a bag is the next part of the recording of another bag; False if a file cannot be read."""
    first = Bag(path)
    try:
        if _order(after)[1] != _order(path)[1] + 1 or any(_is_recorders(m) for m in itertools.islice(first.messages(), _FIRST)):
            return False
        last = max((message.nanoseconds for message in first.messages()), default=None)
        begin = min((message.nanoseconds for message in Bag(after).messages()), default=None)
    except InputError:
        return False
    return last is not None and begin is not None and abs(begin - last) <= _PAUSE * 1e9


def _is_recorders(message: Message) -> bool:
    return message.connection.topic.endswith("/recorder/parameters")
