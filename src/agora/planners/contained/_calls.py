"""The system calls that a confined process may make: a kernel filter (seccomp, Linux) permanently refuses all others.

The filter allows calls by name. If a call has both harmless and harmful uses, it also checks the arguments: `fcntl` duplicates a
file descriptor, but can also make the kernel send a signal to another process. Every call that is not listed fails with "Operation
not permitted". The list contains no call that opens a socket, sends a signal, starts a process or thread, enters a namespace or
changes a file. libseccomp knows the call numbers and builds the filter; Debian and Ubuntu install it by default (`libseccomp2`).
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import functools
import os
from typing import TypeAlias

Test: TypeAlias = tuple[int, int, int]
"""An argument of a call, a mask, and the value that the argument has under the mask."""

ALLOWED = {
    "read files and list folders": (
        *("openat", "open", "close", "read", "readv", "pread64", "preadv", "lseek", "getdents64", "getcwd", "fadvise64"),
        *("fstat", "stat", "lstat", "newfstatat", "statx", "fstatfs", "statfs", "access", "faccessat", "faccessat2"),
        *("readlink", "readlinkat", "dup", "dup2", "dup3", "fcntl", "ioctl", "poll", "ppoll", "select", "pselect6"),
    ),
    "write to the handles that it was given": ("write", "writev", "pwrite64"),
    "answer over its connection": ("sendto", "recvfrom"),
    "manage its memory": ("mmap", "munmap", "mremap", "mprotect", "madvise", "brk"),
    "wait, and know the time": (
        *("futex", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time", "times"),
        *("restart_syscall", "sched_yield"),
    ),
    "handle its own signals": ("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "setitimer", "getitimer"),
    "know itself and the machine": (
        *("getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getrusage", "prlimit64", "getrlimit"),
        *("sched_getaffinity", "getcpu", "sysinfo", "uname", "getrandom", "prctl"),
    ),
    "end": ("exit", "exit_group"),
}
"""The calls, by purpose. Calls in `CHECKED` are allowed only with certain arguments."""

_WHOLE = 2**64 - 1
_MODE, _TO_WRITE, _TO_BOTH = os.O_ACCMODE, os.O_WRONLY, os.O_RDWR
_OTHER_FLAGS = _WHOLE ^ (os.O_ACCMODE | os.O_NONBLOCK | os.O_APPEND | 0o100000 | 0o400000)
"""Flags of a file descriptor that must not be set, including `O_ASYNC`; the two numbers are the values of `O_LARGEFILE` on the two
architectures.
"""


def _open_tests(flags: int) -> tuple[tuple[Test, ...], ...]:
    """Return argument tests that allow opening files, but not truncating a file opened for reading; ``flags`` is the number of the
    argument that holds the flags.
    """
    return ((flags, _MODE | os.O_TRUNC, 0),), ((flags, _MODE, _TO_WRITE),), ((flags, _MODE, _TO_BOTH),)


def _one_of(number: int, *values: int) -> tuple[tuple[Test, ...], ...]:
    """Return a test that argument ``number`` is one of the given values."""
    return tuple(((number, _WHOLE, value),) for value in values)


CHECKED: dict[str, tuple[tuple[Test, ...], ...]] = {
    "openat": _open_tests(2),
    "open": _open_tests(1),
    "fcntl": (  # duplicate a descriptor, read and set its flags; no owner, signal, lease or lock
        *_one_of(1, fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL),
        ((1, _WHOLE, fcntl.F_SETFL), (2, _OTHER_FLAGS, 0)),
    ),
    "ioctl": _one_of(1, 0x5401, 0x5413, 0x5450, 0x5451),  # TCGETS, TIOCGWINSZ, FIONCLEX, FIOCLEX
    "sendto": (((3, _WHOLE, 0), (4, _WHOLE, 0)),),  # no address, so only to the connected peer; no flags, so no out-of-band data
    "recvfrom": _one_of(3, 0),
    "prctl": _one_of(0, 15, 16, 0x53564D41),  # PR_SET_NAME, PR_GET_NAME, PR_SET_VMA
    "prlimit64": _one_of(0, 0),  # only the process's own limits
    "sched_getaffinity": _one_of(0, 0),
}
"""Groups of tests of a call's arguments, by name of the call. A call is allowed if its arguments pass all tests of one group."""

_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_OF_OTHER_MACHINES, _ALL_THREADS = 2, 4  # attributes of a filter
_MASKED = 7


class _Comparison(ctypes.Structure):
    """The type ``struct scmp_arg_cmp`` of libseccomp."""

    _fields_ = (("number", ctypes.c_uint), ("how", ctypes.c_int), ("mask", ctypes.c_uint64), ("value", ctypes.c_uint64))


@functools.cache
def library() -> ctypes.CDLL | None:
    """Return libseccomp, or None if it is not installed."""
    try:
        found = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return None
    found.seccomp_init.restype = ctypes.c_void_p
    return found


def refuse_other_calls() -> None:
    """Make the kernel refuse every call from this process and all its threads, except the calls in the table.

    Raises:
        OSError: libseccomp is not installed, or the kernel does not support seccomp filters.
    """
    seccomp = library()
    if seccomp is None:
        raise OSError("libseccomp is not installed")
    rules = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(_ERROR | errno.EPERM)))
    failed = seccomp.seccomp_attr_set(rules, _OF_OTHER_MACHINES, ctypes.c_uint32(_KILL))
    failed |= seccomp.seccomp_attr_set(rules, _ALL_THREADS, ctypes.c_uint32(1))
    for name in (name for names in ALLOWED.values() for name in names):
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number < 0:
            continue  # this architecture does not have this call
        for tests in CHECKED.get(name, ((),)):
            given = (_Comparison * len(tests))(*(_Comparison(which, _MASKED, mask, value) for which, mask, value in tests))
            failed |= seccomp.seccomp_rule_add_array(rules, ctypes.c_uint32(_ALLOW), number, len(tests), given)
    failed |= seccomp.seccomp_load(rules)
    seccomp.seccomp_release(rules)
    if failed:
        raise OSError("the kernel does not support filters of system calls")
