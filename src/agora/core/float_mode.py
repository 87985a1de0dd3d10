"""The floating-point mode of a thread: its rounding mode, and whether denormal numbers are treated as zero.

External code can change the mode of the thread that calls it: through ``fesetround``, through a switch such as
``torch.set_flush_denormal``, or by loading a library that was compiled with ``-ffast-math``. This would change all later results
computed in that thread, including the engine's.
"""

from __future__ import annotations

import ctypes
import platform
import struct

from agora.errors import ComponentError

_SYSTEM = ctypes.PyDLL(None)  # does not release Python's lock, so a call takes only a microsecond
_SIZE = 64  # bytes, more than any floating-point environment has
_USUAL = ctypes.c_void_p(-1)  # FE_DFL_ENV of the C libraries of Linux
_READ = {"x86_64": struct.Struct("=H26xI"), "aarch64": struct.Struct("=I")}.get(platform.machine())
_MASKS, _VALUES = {"x86_64": ((0x0F3F, 0xFFC0), (0x033F, 0x1F80)), "aarch64": ((0xFFFFFFFF,), (0,))}.get(
    platform.machine(), ((), ())
)
"""The relevant bits of the two control words of x86_64, or of the control word of aarch64, and their values in the usual mode."""


def is_usual() -> bool:
    """Return whether this thread rounds to nearest, keeps denormal numbers, and does not raise a signal for inexact results."""
    if _READ is None:
        return bool(_SYSTEM.fegetround() == 0)
    environment = ctypes.create_string_buffer(_SIZE)
    _SYSTEM.fegetenv(environment)
    return tuple(word & mask for word, mask in zip(_READ.unpack_from(environment), _MASKS, strict=True)) == _VALUES


def set_usual() -> None:
    """Set this thread's mode to the one in which processes start."""
    _SYSTEM.fesetenv(_USUAL)


class FloatModeError(ComponentError):
    """External code changed the floating-point mode, which has been restored."""


def check(what: str) -> None:
    """Check that this thread is in the usual mode; if not, restore it and raise an error.

    Args:
        what: name of the code that has run since the last check, used in the message.

    Raises:
        FloatModeError: the mode had been changed.
    """
    if not is_usual():
        set_usual()
        raise FloatModeError(
            f"{what} changed the floating-point mode (rounding or flush-to-zero), which would change all later results of "
            "its process; restore it before returning"
        )
