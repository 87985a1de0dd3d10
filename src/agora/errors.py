"""Every error that Agora raises on purpose.

AgoraError
├── InputError               a file or an argument is wrong: says file, line, key, the value expected, the nearest valid name
│   ├── UnknownNameError     no component, scenario, robot ... of that name
│   ├── FieldError           the type of a dataclass' field does not accept a value (`agora.ranges`); also a ValueError
│   ├── ConflictError        somebody else has changed something that is kept since (`agora.web._user_content.store`)
│   └── PlacementError       nothing could be placed with the clearance asked for
├── PlannerError             a planner raised, or returned a twist that is not finite
│   └── RefusedError         a planner that is a program says why it has no answer (`agora.wire.line`)
├── ComponentError           a component raised, or returned an impossible value: names it, file and line (`agora.core.answers`)
│   └── FloatModeError       its code left another floating-point mode (`agora.core.float_mode`)
├── ResultsError             the results folder cannot be written, or holds another run
├── DivergedError            a training came to numbers that are not finite
├── StoppedError             a run was stopped: says which part is kept and how to continue
├── ContractError            a component does not keep its contract (`agora.testing`)
├── SimulatorLostError       a simulator that is another process has gone (`agora.node_logic.driver`)
├── FlexError                a Move Base Flex request that cannot be met, with its outcome (`agora.node_logic.move_base_flex`)
└── SenderGoneError          the other end of a socket has gone (`agora.wire.mailbox`)
"""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

__all__ = [
    "AgoraError",
    "ComponentError",
    "DivergedError",
    "FieldError",
    "InputError",
    "PlacementError",
    "PlannerError",
    "ResultsError",
    "StoppedError",
    "UnknownNameError",
    "nearest",
    "placed",
    "similar",
]

_LONGEST_NAME = 200  # letters
_MOST_NAMES = 100
_LONGEST_LINE = 100  # characters of a line of code that is shown


class AgoraError(Exception):
    """Base of all errors that Agora raises on purpose."""


class InputError(AgoraError):
    """A file or an argument is wrong; nothing was half-loaded or written. The command line exits with 2."""


class UnknownNameError(InputError):
    """An unknown name; the message gives the nearest known one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        quoted = repr(name) if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]!r}..."
        super().__init__(f"no {kind} called {quoted}; {nearest(name, known)}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str]]:
        """Comes out of a worker as an `InputError` of the same words."""
        return InputError, (str(self),)


class FieldError(InputError, ValueError):
    """A dataclass' field does not accept a value; the message is "name: expected ..., got ..."."""


class PlacementError(InputError):
    """An object could not be placed with the requested clearance."""


class PlannerError(AgoraError):
    """A planner raised, or returned a twist that is not finite."""


class ComponentError(AgoraError):
    """A component, such as a metric or a behaviour, raised, or returned an impossible value; the message names the component."""


class ResultsError(AgoraError):
    """The results folder cannot be written, or it holds another run."""


class DivergedError(AgoraError):
    """A training produced numbers that are not finite; its last good checkpoint stays."""


class StoppedError(AgoraError):
    """A run was stopped; the message names the kept results. The command line exits with ``code``, 128 and a signal's number."""

    def __init__(self, message: str, code: int = 130) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def reading(path: str | Path, what: str) -> Iterator[None]:
    """Context for reading a user's file: any exception in it becomes an `InputError` that names the file.

    Args:
        path: path of the file.
        what: expected contents, with its article: "a map".

    Raises:
        InputError: the block raised an exception that is not one of Agora's.
    """
    try:
        yield
    except AgoraError:
        raise
    except OSError as error:
        raise InputError(f"{path}: cannot be read as {what}: {error.strerror or in_words(error)}") from error
    except Exception as error:
        raise InputError(f"{path}: damaged, or not {what}: {in_words(error)[:200]}") from error


def in_words(error: BaseException) -> str:
    """One encodable line about an error: its text, preceded by the name of its type if it is not one of Agora's."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - a stranger's exception may do anything
        text = "has no printable text"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if isinstance(error, AgoraError) else f"{type(error).__name__}: {text}".removesuffix(": ")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the hint of an error message: the nearest known name, or the list of them, of which a long one is cut."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1) if len(name) <= _LONGEST_NAME else []
    if close:
        return f"did you mean {close[0]!r}?"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"known names: {', '.join(names[:_MOST_NAMES])}{more}" if names else "no names are known"


def similar(name: str, known: Iterable[str]) -> str:
    """The end of a message: the nearest known name where one is near, else nothing."""
    hint = nearest(name, known)
    return f"; {hint}" if hint.startswith("did you mean") else ""


def placed(error: BaseException, *mine: str) -> str:
    """One error in words with its place, in brackets: file, line and function, as far as they are known.

    Args:
        error: exception that a stranger's code raised.
        mine: files of the caller, which are not the place of the error.

    Returns:
        One line; two for a file that is not Python, the second with the text that cannot be parsed.
    """
    if isinstance(error, SyntaxError) and error.filename:
        text = "" if not error.text else f"\n    {error.text.strip()}"
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno}){text}"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename not in mine]
    own = [one for one in frames if "<frozen " not in one.filename and "importlib" not in one.filename]
    return in_words(error) + (f" ({own[-1].filename}, line {own[-1].lineno}, in {own[-1].name})" if own else "")


def place(calls: Sequence[tuple[FrameType, int]]) -> str:
    """Return file, line, function and text of a stranger's own code in a stack of calls, the outermost first.

    Args:
        calls: frames, and the number of the line in each.
    """
    where = traceback.StackSummary.extract(iter(calls))[_own([frame for frame, _ in calls])]
    line = f": {where.line[:_LONGEST_LINE]}" if where.line else ""
    path = Path(where.filename)
    name = f"{path.parent.name}/{path.name}" if path.name == "__init__.py" else path.name
    return f"{name}, line {where.lineno}, in {where.name}{line}".encode("utf-8", "replace").decode()


def _own(frames: Sequence[FrameType]) -> int:
    """The number of the last frame that is in the stranger's package: in the outermost that is not Agora's, if there is one."""
    roots = [str(frame.f_globals.get("__name__", "")).partition(".")[0] for frame in frames]
    own = next((root for root in roots if root != "agora"), "agora")
    return max(number for number, root in enumerate(roots) if root == own)
