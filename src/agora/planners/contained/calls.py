"""The system calls that a confined process may not make: a filter of the kernel's (seccomp, Linux), which refuses them for good.

Landlock (`agora.planners.contained.confine`) says which files a process opens. This filter keeps it from starting processes and
threads, from sockets, from signals and limits of other processes, and from changing files that it cannot open.
"""

from __future__ import annotations

import ctypes
import platform
import struct

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""By the machine's name: the column of its numbers below, and its name for the kernel."""

_NONE = -1
_REFUSED = {
    "start a process or a thread": ((57, _NONE), (58, _NONE), (56, 220), (59, 221), (322, 281)),
    "open a socket, or a name on one": ((41, 198), (42, 203), (49, 200)),
    "signal or look into a process": (
        *((62, 129), (200, 130), (234, 131), (129, 138), (297, 240), (424, 424), (434, 434), (438, 438)),
        *((101, 117), (310, 270), (311, 271), (312, 272), (440, 440), (279, 239), (256, 238)),
    ),
    "set the turn or the limits of a process": ((203, 122), (142, 118), (144, 119), (314, 274), (141, 140), (251, 30), (160, 164)),
    "outlive the process that started it": ((109, 154), (112, 157), (157, 167)),
    "change a file that is not opened": (
        *((76, 45), (77, 46), (90, _NONE), (91, 52), (268, 53), (452, 452), (92, _NONE), (93, 55), (94, _NONE), (260, 54)),
        *((132, _NONE), (235, _NONE), (261, _NONE), (280, 88), (188, 5), (189, 6), (190, 7), (197, 14), (198, 15), (199, 16)),
        *((463, 463), (466, 466), (469, 469), (303, 264), (304, 265), (179, 60), (443, 443)),
    ),
    "hold memory that no limit counts": ((319, 279), (29, 194), (68, 186), (64, 190), (240, 180), (447, 447)),
    "mount, or enter a namespace": (
        *((165, 40), (166, 39), (272, 97), (308, 268), (155, 41), (161, 51)),
        *((428, 428), (429, 429), (430, 430), (431, 431), (432, 432), (433, 433), (442, 442)),
    ),
    "watch files": ((253, _NONE), (294, 26), (300, 262)),
    "keys, and other doors to the kernel": (
        *((321, 280), (298, 241), (323, 282), (425, 425), (250, 219), (248, 217), (249, 218), (103, 116)),
        *((175, 105), (313, 273), (176, 106), (246, 104), (320, 294), (169, 142), (167, 224), (168, 225), (163, 89)),
        *((164, 170), (227, 112), (305, 266), (159, 171), (170, 161), (171, 162)),
    ),
}
"""The calls by their numbers on x86_64 and on aarch64, in the order of Linux's tables."""
_ABSENT = (435, 435)
"""``clone3``, which is said not to be there: the C library then calls ``clone``."""
_LIMITS = (302, 261)
"""``prlimit64``, which is allowed of the process itself."""

_OTHER_TABLE = 0x40000000
"""From this number on, calls of x86_64 are those of another table (x32)."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _MACHINE, _FIRST = 0, 4, 16
"""Places of the call's number, its machine and its first argument."""
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NOT_PERMITTED, _NO_SUCH_CALL = 1, 38
_SET_SECCOMP, _FILTER = 22, 2


def has_table() -> bool:
    """Return whether the numbers of this machine's system calls are known here."""
    return platform.machine() in _MACHINES


def refuse_calls(system: ctypes.CDLL) -> None:
    """Have the kernel refuse this process the calls of the table for good; it must have given up new privileges.

    Raises:
        OSError: the kernel has no such filters.
    """
    steps = _program(*_MACHINES[platform.machine()])
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    if system.prctl(_SET_SECCOMP, _FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "the kernel takes no filter of system calls")


def _program(column: int, machine: int) -> list[tuple[int, int, int, int]]:
    """The steps of the filter: code, steps to leap where a comparison holds and where it does not, and a number."""
    numbers = [call[column] for calls in _REFUSED.values() for call in calls if call[column] != _NONE]
    tests = [(_AT_LEAST, _OTHER_TABLE), *((_EQUAL, number) for number in numbers)]
    left = len(tests) + 6  # steps from the first test to the refusal
    return [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, machine),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        *((code, left - k - 1, 0, number) for k, (code, number) in enumerate(tests)),
        (_EQUAL, 0, 1, _ABSENT[column]),
        (_RETURN, 0, 0, _ERROR | _NO_SUCH_CALL),
        (_EQUAL, 0, 2, _LIMITS[column]),
        (_LOAD, 0, 0, _FIRST),
        (_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERROR | _NOT_PERMITTED),
    ]
