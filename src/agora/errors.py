"""Every error that Agora raises on purpose.

AgoraError
├── InputError               a file or argument is invalid: gives file, line, key, expected value and nearest valid name
│   ├── UnknownNameError     there is no component, scenario, robot ... with that name
│   ├── FieldError           the type of a dataclass field does not accept a value (`agora.ranges`); also a ValueError
│   ├── ConflictError        a stored item has been changed by someone else in the meantime (`agora.web._user_content.store`)
│   └── PlacementError       an object could not be placed with the requested clearance
├── PlannerError             a planner raised an exception or returned a non-finite twist
│   └── RefusedError         a planner that is an external program reports why it has no answer (`agora.wire.line`)
├── ComponentError           a component raised or returned an impossible value: names it, file and line (`agora.core.answers`)
│   └── FloatModeError       its code left the floating-point mode changed (`agora.core.float_mode`)
├── ResultsError             the results folder is not writable or holds another run
├── DivergedError            a training run produced non-finite numbers
├── StoppedError             a run was stopped: says which results are kept and how to continue
├── ContractError            a component violates its contract (`agora.testing`)
├── SimulatorLostError       a simulator in another process is gone (`agora.node_logic.driver`)
├── FlexError                a Move Base Flex request cannot be fulfilled; has the outcome (`agora.node_logic.move_base_flex`)
└── SenderGoneError          the other end of a socket is gone (`agora.wire.mailbox`)
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

_LONGEST_NAME = 200  # characters
_MOST_NAMES = 100
_LONGEST_LINE = 100  # characters shown of a line of code


class AgoraError(Exception):
    """Base of all errors that Agora raises on purpose."""


class InputError(AgoraError):
    """A file or an argument is invalid; nothing was loaded or written, not even partially. The command line exits with status 2."""


class UnknownNameError(InputError):
    """An unknown name; the message gives the nearest known one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        quoted = repr(name) if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]!r}..."
        super().__init__(f"no {kind} called {quoted}; {nearest(name, known)}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str]]:
        """Pickle the error as an `InputError` with the same message, the only form in which it can leave a worker process."""
        return InputError, (str(self),)


class FieldError(InputError, ValueError):
    """A field of a dataclass does not accept a value; the message is "name: expected ..., got ..."."""


class PlacementError(InputError):
    """An object could not be placed with the requested clearance."""


class PlannerError(AgoraError):
    """A planner raised an exception or returned a non-finite twist."""


class ComponentError(AgoraError):
    """A component, such as a metric or a behaviour, raised an exception or returned an impossible value; the message names the
    component.
    """


class ResultsError(AgoraError):
    """The results folder is not writable or holds another run."""


class DivergedError(AgoraError):
    """A training run produced non-finite numbers; its last good checkpoint is kept."""


class StoppedError(AgoraError):
    """A run was stopped; the message names the results that were kept. The command line exits with status ``code``, which is 128
    plus the signal number.
    """

    def __init__(self, message: str, code: int = 130) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def reading(path: str | Path, what: str) -> Iterator[None]:
    """Turn any exception that is raised in this context, while a user's file is read, into an `InputError` that names the file.

    Args:
        path: path of the file.
        what: expected contents, with an article, such as "a map".

    Raises:
        InputError: the code in this context raised an exception that is not one of Agora's.
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
    """Describe an error in one line, using only characters that any output can encode: the error's message, preceded by the name of
    its type if the error is not one of Agora's.
    """
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - a stranger's exception may do anything
        text = "its message cannot be printed"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if isinstance(error, AgoraError) else f"{type(error).__name__}: {text}".removesuffix(": ")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the hint in an error message: the nearest known name or, if no name is near, the list of known names, truncated if it
    is long.
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1) if len(name) <= _LONGEST_NAME else []
    if close:
        return f"did you mean {close[0]!r}?"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"known names: {', '.join(names[:_MOST_NAMES])}{more}" if names else "no names are known"


def similar(name: str, known: Iterable[str]) -> str:
    """Return the end of a message, with the nearest known name if one is similar; otherwise an empty string."""
    hint = nearest(name, known)
    return f"; {hint}" if hint.startswith("did you mean") else ""


def placed(error: BaseException, *mine: str) -> str:
    """Return a description of an error with its location in brackets: file, line and function, as far as they are known.

    Args:
        error: exception raised by third-party code.
        mine: files of the caller, which are not considered the location of the error.

    Returns:
        One line; for a file that is not valid Python, two lines, the second with the text that cannot be parsed.
    """
    if isinstance(error, SyntaxError) and error.filename:
        text = "" if not error.text else f"\n    {error.text.strip()}"
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno}){text}"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename not in mine]
    own = [one for one in frames if "<frozen " not in one.filename and "importlib" not in one.filename]
    return in_words(error) + (f" ({own[-1].filename}, line {own[-1].lineno}, in {own[-1].name})" if own else "")


def place(calls: Sequence[tuple[FrameType, int]]) -> str:
    """Return the file, line, function and source text of the third-party code in a call stack, whose outermost call comes first.

    Args:
        calls: the frames, each with its line number.
    """
    where = traceback.StackSummary.extract(iter(calls))[_own([frame for frame, _ in calls])]
    line = f": {where.line[:_LONGEST_LINE]}" if where.line else ""
    path = Path(where.filename)
    name = f"{path.parent.name}/{path.name}" if path.name == "__init__.py" else path.name
    return f"{name}, line {where.lineno}, in {where.name}{line}".encode("utf-8", "replace").decode()


def _own(frames: Sequence[FrameType]) -> int:
    """Return the index of the last frame in the third-party package, i.e. the package of the outermost frame outside Agora, if
    there is one.
    """
    roots = [str(frame.f_globals.get("__name__", "")).partition(".")[0] for frame in frames]
    own = next((root for root in roots if root != "agora"), "agora")
    return max(number for number, root in enumerate(roots) if root == own)
