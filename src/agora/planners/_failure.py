"""Description of a planner's failed call: the error, the line of the planner's code, and any undeclared channel."""

from __future__ import annotations

import difflib
import sys
import traceback
from collections.abc import Sequence
from types import FrameType

from agora.errors import AgoraError, in_words, nearest, place
from agora.interfaces import Declaration, Observation
from agora.interfaces.observation import VIEWS
from agora.registry import available


def describe_failure(error: BaseException, declares: Declaration, observation: Observation) -> str:
    """Describe in one line why a planner's call failed.

    Args:
        error: exception that was raised, in the file that calls this function or in code called from that file.
        declares: properties of the planner.
        observation: observation that the planner received.

    Returns:
        The error. Unless Agora raised it on purpose, so that its message suffices, this is followed by the file, the line and the
        source text of the planner's code that raised it or called the code that raised it. A possible reason is added if there is
        one: a channel that the code reads without declaring it, or the valid name closest to an unknown name.
    """
    said, here = in_words(error), sys._getframe(1).f_code.co_filename
    raised = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename != here]
    if not raised:
        return said
    frames = [frame for frame, _ in raised]
    if not isinstance(error, AgoraError):
        said += f" ({place(raised)})"
    return said + "".join(f"; {hint}" for hint in _undeclared_channels(error, frames, declares, observation))


def _undeclared_channels(
    error: BaseException, frames: Sequence[FrameType], declares: Declaration, observation: Observation
) -> list[str]:
    """Return hints about the cause of the error: a channel that the code reads without declaring it, or the valid name closest to
    an unknown name.
    """
    hints, read = [], {name for frame in frames for name in frame.f_code.co_names}
    if isinstance(error, AttributeError) and error.obj is not None and error.name:
        close = difflib.get_close_matches(error.name, [name for name in dir(error.obj) if not name.startswith("_")], n=1)
        return [f"did you mean {name!r}?" for name in close]
    if isinstance(error, (TypeError, AttributeError)) and "NoneType" in str(error):
        missing = {
            channel: name for name, channel in reversed(VIEWS.items()) if name in read and getattr(observation, name) is None
        }
        hints = [(f"observation.{name} is None", channel) for channel, name in missing.items()]
    elif isinstance(error, KeyError) and "sensors" in read and error.args and isinstance(key := error.args[0], str):
        if unknown := _nearest_sensor_name(key, observation):
            return [unknown]
        shown = next((name for name, channel in VIEWS.items() if channel == key), "")
        if shown and key in declares.channels:
            return [f"the channel {key!r} is observation.{shown}"]
        hints = [(f"observation.sensors has no {key!r}", key)]
    channels = set(declares.channels)
    return [f"{what}: the planner does not declare it; add needs=({name!r},)" for what, name in hints if name not in channels]


def _nearest_sensor_name(key: str, observation: Observation) -> str:
    """Return a message with the valid name closest to the name of an unknown sensor, or of an unknown part of a reading; empty if
    the name exists.
    """
    channels = {*available("channels"), *observation.sensors}
    parts = {name for reading in observation.sensors.values() for name in reading}
    if key in channels | parts:
        return ""
    kind, known = ("reading", parts) if difflib.get_close_matches(key, parts, n=1) else ("sensor", channels)
    return f"no {kind} called {key!r}; {nearest(key, known)}"
