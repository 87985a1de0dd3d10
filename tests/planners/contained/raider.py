"""A planner that tries to get out: every try aims at a process, a file or a socket that the test made, whose places are `TARGETS`.

A try that the system refuses raises; one that returns got through. A test writes a copy of this file with the targets of a
test. Tries of `CALLS` are bare calls of the system: any answer but a refusal, such as "bad address", says that the call was let in.
"""

import ctypes
import errno
import fcntl
import functools
import mmap
import os
import platform
import posix
import resource
import socket
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from agora.interfaces import Declaration
from agora.planners.contained._calls import library

TARGETS: dict = {}

SYSTEM = ctypes.CDLL(None, use_errno=True)
PID, FILE, FOLDER = TARGETS.get("pid", 0), TARGETS.get("file", ""), TARGETS.get("folder", "")
LINE = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else 0  # the handle that it answers over
TOKEN = TARGETS.get("token", "TOKEN")
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS)
HIDDEN = (*REFUSALS, errno.ENOENT, errno.ENOTDIR)
KILL = TARGETS.get("signal", 9)
IN, AT, HERE = 0, os.fsencode(FILE), -100
BUFFER = ctypes.create_string_buffer(4096)


class ThroughError(Exception):
    """A call was let in."""


def call(name, *arguments):
    """Make a call of the system; raises PermissionError if it is refused, and returns otherwise, whatever the call says."""
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    number = library().seccomp_syscall_resolve_name(name.encode())
    if number < 0:
        raise PermissionError(errno.ENOSYS, "this machine has no such call")
    ctypes.set_errno(0)
    if SYSTEM.syscall(ctypes.c_long(number), *given) == -1 and ctypes.get_errno() in REFUSALS:
        raise PermissionError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


CALLS = {
    # signals
    "kill": (PID, KILL),
    "tkill": (PID, KILL),
    "tgkill": (PID, PID, KILL),
    "rt_sigqueueinfo": (PID, KILL, struct.pack("iii", KILL, 0, -1) + bytes(116)),
    "rt_tgsigqueueinfo": (PID, PID, KILL, struct.pack("iii", KILL, 0, -1) + bytes(116)),
    "pidfd_open": (PID, 0),
    "pidfd_send_signal": (2, KILL, None, 0),
    "timer_create": (1, struct.pack("QiiiI", 0, KILL, 4, PID, 0) + bytes(40), BUFFER),
    "mq_open": (b"agora", os.O_RDWR | os.O_CREAT, 0o600, None),
    "mq_notify": (2, struct.pack("Qii", 0, KILL, 0) + bytes(48)),
    # other processes
    "ptrace": (16, PID, 0, 0),
    "process_vm_readv": (PID, BUFFER, 1, BUFFER, 1, 0),
    "process_vm_writev": (PID, BUFFER, 1, BUFFER, 1, 0),
    "process_madvise": (2, BUFFER, 1, 4, 0),
    "process_mrelease": (2, 0),
    "kcmp": (PID, PID, 0, 0, 0),
    "pidfd_getfd": (2, 0, 0),
    "get_robust_list": (PID, BUFFER, BUFFER),
    "migrate_pages": (PID, 1, BUFFER, BUFFER),
    "move_pages": (PID, 0, None, None, None, 0),
    "setpriority": (0, PID, 19),
    "sched_setscheduler": (PID, 3, bytes(4)),
    "sched_setattr": (PID, bytes(48), 0),
    "sched_setparam": (PID, bytes(4)),
    "sched_setaffinity": (PID, 8, struct.pack("Q", 1)),
    "sched_getaffinity": (PID, 128, BUFFER),
    "ioprio_set": (1, PID, 3 << 13),
    "prlimit64": (PID, 7, struct.pack("QQ", 3, 3), None),
    "setpgid": (PID, PID),
    "setsid": (),
    # starts
    "fork": (),
    "vfork": (),
    "clone": (17, 0, 0, 0, 0),
    "clone3": (BUFFER, 0),
    "execve": (b"/bin/true", None, None),
    "execveat": (HERE, b"/bin/true", None, None, 0),
    # sockets
    "socket": (1, 2, 0),
    "socketpair": (1, 2, 0, BUFFER),
    "connect": (LINE, struct.pack("H", 1) + b"\0agora", 8),
    "bind": (LINE, struct.pack("H", 1), 2),
    "listen": (LINE, 1),
    "accept4": (LINE, None, None, 0),
    "sendto": (LINE, b"", 0, 0, struct.pack("H", 1) + b"\0agora", 8),
    "sendmsg": (LINE, bytes(64), 0),
    "sendmmsg": (LINE, bytes(64), 1, 0),
    "recvmsg": (LINE, bytes(64), 64),
    "recvfrom": (LINE, BUFFER, 1, 1, None, None),
    "setsockopt": (LINE, 1, 7, struct.pack("i", 1 << 20), 4),
    "shutdown": (LINE, 3),
    # memory and messages that outlive it
    "shmget": (0x61676F72, 4096, 0o1600),
    "shmat": (TARGETS.get("shm", 0), None, 0),
    "shmctl": (TARGETS.get("shm", 0), IN, None),
    "semget": (0x61676F72, 1, 0o1600),
    "semctl": (TARGETS.get("sem", 0), 0, IN, 0),
    "msgget": (0x61676F72, 0o1600),
    "msgctl": (TARGETS.get("msg", 0), IN, None),
    "memfd_create": (b"agora", 0),
    "memfd_secret": (0,),
    # files
    "truncate": (AT, 0),
    "ftruncate": (2, 1 << 40),
    "fallocate": (2, 0, 0, 1 << 40),
    "chmod": (AT, 0o666),
    "fchmod": (2, 0),
    "fchmodat": (HERE, AT, 0o666),
    "chown": (AT, 1, 1),
    "fchownat": (HERE, AT, 1, 1, 0),
    "utimensat": (HERE, AT, None, 0),
    "setxattr": (AT, b"user.agora", b"x", 1, 0),
    "renameat2": (HERE, AT, HERE, AT + b"2", 0),
    "linkat": (HERE, AT, HERE, AT + b"2", 0),
    "symlinkat": (b"x", HERE, AT + b"2"),
    "unlinkat": (HERE, AT, 0),
    "mkdirat": (HERE, AT + b"2", 0o700),
    "mknodat": (HERE, AT + b"2", 0o010600, 0),
    "openat2": (HERE, AT, struct.pack("QQQ", 0, 0, 0), 24),
    "creat": (AT, 0o600),
    "name_to_handle_at": (HERE, AT, bytes(64), BUFFER, 0),
    "open_by_handle_at": (2, bytes(64), 0),
    "flock": (2, 2),
    "copy_file_range": (2, None, 2, None, 1, 0),
    "sendfile": (2, 2, None, 1),
    "splice": (2, None, LINE, None, 1, 0),
    "vmsplice": (LINE, BUFFER, 1, 0),
    "tee": (2, LINE, 1, 0),
    "pipe2": (BUFFER, 0),
    "inotify_init1": (0,),
    "inotify_add_watch": (2, AT, 2),
    "fanotify_init": (0, 0),
    "fanotify_mark": (2, 1, 2, HERE, AT),
    "quotactl": (0, None, 0, None),
    # mounts and namespaces
    "mount": (None, AT, None, 0, None),
    "umount2": (AT, 0),
    "pivot_root": (AT, AT),
    "chroot": (os.fsencode(FOLDER),),
    "chdir": (os.fsencode(FOLDER),),
    "unshare": (0x10000000,),
    "setns": (2, 0),
    "fsopen": (b"tmpfs", 0),
    "open_tree": (HERE, AT, 0),
    "move_mount": (2, b"", 2, b"", 0),
    "mount_setattr": (HERE, AT, 0, bytes(32), 32),
    # doors to the kernel
    "io_uring_setup": (1, bytes(120)),
    "io_uring_enter": (2, 0, 0, 0, None, 0),
    "io_uring_register": (2, 0, None, 0),
    "io_setup": (1, bytes(8)),
    "userfaultfd": (0,),
    "bpf": (0, bytes(72), 72),
    "perf_event_open": (bytes(112), 0, -1, -1, 0),
    "keyctl": (0, -3, 0),
    "add_key": (b"user", b"agora", b"x", 1, -3),
    "request_key": (b"user", b"agora", None, 0),
    "landlock_create_ruleset": (None, 0, 1),
    "seccomp": (1, 0, bytes(16)),
    "personality": (0xFFFFFFFF,),
    "modify_ldt": (0, BUFFER, 16),
    "ioperm": (0x80, 1, 1),
    "iopl": (0,),
    "kexec_load": (0, 0, None, 0xFFFF),
    "init_module": (None, 0, b""),
    "finit_module": (-1, b"", 0),
    "delete_module": (b"agora_has_no_module", 0x800),
    "swapon": (AT, 0),
    "acct": (AT + b"2",),
    "reboot": (0, 0, 0, None),
    "settimeofday": (None, None),
    "clock_settime": (2, bytes(16)),
    "adjtimex": (bytes(208),),
    "sethostname": (None, -1),
    "syslog": (10, None, 0),
    # who it is
    "setuid": (0,),
    "setresuid": (0, 0, 0),
    "setgroups": (0, None),
    "capset": (struct.pack("Ii", 0x20080522, 0), bytes(24)),
    "umask": (0o22,),
}

TRIES = {name: functools.partial(call, name, *arguments) for name, arguments in CALLS.items()}
"""By name: a function that raises if it is refused."""


def a_try(function):
    """Add a function to the tries."""
    TRIES[function.__name__.replace("_", " ")] = function
    return function


TRIES |= {
    "own a handle": lambda: fcntl.fcntl(LINE, fcntl.F_SETOWN, PID),
    "own a handle of a thread": lambda: fcntl.fcntl(LINE, 15, struct.pack("ii", 0, PID)),
    "choose the signal of a handle": lambda: fcntl.fcntl(LINE, 10, KILL),
    "have a handle signal": lambda: fcntl.fcntl(LINE, fcntl.F_SETFL, fcntl.fcntl(LINE, fcntl.F_GETFL) | os.O_ASYNC),
    "have its output bypass the cache": lambda: fcntl.fcntl(2, fcntl.F_SETFL, os.O_DIRECT),
    "own a handle by fiosetown": lambda: fcntl.ioctl(LINE, 0x8901, struct.pack("i", PID)),
    "own a handle by siocspgrp": lambda: fcntl.ioctl(LINE, 0x8902, struct.pack("i", PID)),
    "have a handle signal by fioasync": lambda: fcntl.ioctl(LINE, 0x5452, struct.pack("i", 1)),
    "name a call of fcntl by its lower half": lambda: call("fcntl", LINE, fcntl.F_SETOWN | 1 << 32, PID),
    "lock its output": lambda: fcntl.lockf(2, fcntl.LOCK_EX | fcntl.LOCK_NB),
    "type into the terminal": lambda: fcntl.ioctl(0, 0x5412, b"x"),
    "take the terminal": lambda: fcntl.ioctl(0, 0x540E, 0),
    "outlive its parent": lambda: call("prctl", 1, 0, 0, 0, 0),
    "become readable again": lambda: call("prctl", 4, 1, 0, 0, 0),
    "adopt processes": lambda: call("prctl", 36, 1, 0, 0, 0),
    "raise its limit": lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)),
    "connect to a port": lambda: socket.create_connection(("127.0.0.1", TARGETS["port"]), 1.0).close(),
    "read a file": lambda: Path(FILE).read_text(),
    "write a file": lambda: Path(FILE).write_text(""),
    "append to itself": lambda: open(__file__, "a").close(),
    "empty a file that it reads": lambda: os.close(os.open(__file__, os.O_RDONLY | os.O_TRUNC)),
    "empty a file that it neither reads nor writes": lambda: os.close(os.open(__file__, os.O_ACCMODE | os.O_TRUNC)),
    "make a file without a name": lambda: os.close(os.open(os.path.dirname(__file__), os.O_TMPFILE | os.O_RDWR, 0o600)),
    "list the folder of a file": lambda: os.listdir(FOLDER),
    "list its own folder": lambda: os.listdir(os.path.dirname(__file__)),
    "start a program": lambda: subprocess.run(["/bin/true"], check=False),
    "start a program by posix spawn": lambda: posix.posix_spawn("/bin/true", ["true"], {}),
    "start a thread": lambda: threading.Thread(target=print).start(),
    "take much memory": lambda: bytearray(64 << 30),
    "map much memory": lambda: mmap.mmap(-1, 64 << 30),
}


@a_try
def have_a_handle_signal_another_process():
    """Refused if the other process was not signalled; whatever it does not see as pending was not sent."""
    one, other = socket.socketpair()
    fcntl.fcntl(one, fcntl.F_SETOWN, PID)
    fcntl.fcntl(one, 10, 23)
    fcntl.fcntl(one, fcntl.F_SETFL, fcntl.fcntl(one, fcntl.F_GETFL) | os.O_ASYNC)
    other.send(b"x")
    with open(f"/proc/{PID}/status") as status:
        pending = next(line.split()[1] for line in status if line.startswith("ShdPnd"))
    if not int(pending, 16) >> 22 & 1:
        raise PermissionError(errno.EPERM, "it was not signalled")


@a_try
def lease_a_file():
    with open(__file__) as own:
        fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_RDLCK)


@a_try
def watch_a_folder():
    handle = os.open("/usr", os.O_RDONLY)
    try:
        fcntl.fcntl(handle, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
    finally:
        os.close(handle)


@a_try
def open_sockets_of_any_family():
    through = []
    for family in range(46):
        for kind in (1, 2, 3, 5):
            try:
                call("socket", family, kind, 0)
                through.append((family, kind))
            except PermissionError:
                pass
    if not through:
        raise PermissionError(errno.EPERM, "refused all")


@a_try
def send_to_a_name():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"secret", TARGETS["name"])


@a_try
def send_to_a_path():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"secret", TARGETS["datagrams"])


@a_try
def connect_to_a_name():
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(TARGETS["stream"])


def writes(path):
    """A try to write a file at a path."""

    def write():
        with open(path, "wb"):
            os.remove(path)

    return write


TRIES |= {f"write into {place}": writes(f"{place}/{TOKEN}") for place in ("/dev/shm", "/tmp", "/var/tmp", "", "/dev")}


def reads(path):
    """A try to read a file or to list a folder at a path."""

    def read():
        os.listdir(path) if os.path.isdir(path) else os.read(os.open(path, os.O_RDONLY), 64)

    return read


SECRETS = (
    *(f"/proc/{PID}/{name}" for name in ("environ", "cmdline", "mem", "maps", "fd", "status", "root", "cwd")),
    *("/proc", "/proc/1/cmdline", "/proc/self/net/unix", "/proc/self/mountinfo", "/proc/self/root/etc/passwd", "/proc/kallsyms"),
    *("/proc/sys/kernel/pid_max", "/proc/net/tcp", "/sys/kernel", "/sys/class", "/dev", "/dev/tty", "/dev/ptmx", "/dev/kmsg"),
    *("/etc/passwd", "/etc/shadow", "/root", "/home", "/tmp", "/var", "/run"),
)
TRIES |= {f"read {path}".replace(f"/{PID}/", "/PID/"): reads(path) for path in SECRETS}


@a_try
def write_its_memory_as_a_file():
    with open("/proc/self/mem", "r+b"):
        pass


@a_try
def make_itself_unkillable():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")


@a_try
def open_very_many_handles():
    held = []
    try:
        while len(held) < 2000:
            held.append(os.open("/dev/null", os.O_RDONLY))
    finally:
        for handle in held:
            os.close(handle)


@a_try
def say_more_than_its_output_holds():
    for _ in range(4):
        os.write(2, bytes(1 << 20))


@a_try
def use_a_handle_of_its_parent():
    expected = {0, 1, 2, LINE}
    for handle in range(256):
        if handle not in expected:
            try:
                fcntl.fcntl(handle, fcntl.F_GETFD)
            except OSError:
                continue
            return
    raise PermissionError(errno.EPERM, "there is none")


@a_try
def find_a_secret_in_its_environment():
    if not any("secret" in value for value in (*os.environ.values(), *sys.argv)):
        raise PermissionError(errno.EPERM, "there is none")


@a_try
def call_by_machine_code():
    """Signal by code that it wrote itself: mov eax, number; mov edi, pid; mov esi, 9; syscall; ret."""
    if platform.machine() != "x86_64":
        raise PermissionError(errno.ENOSYS, "this is the code of another machine")
    code = b"\xb8" + struct.pack("i", 62) + b"\xbf" + struct.pack("i", PID) + b"\xbe" + struct.pack("i", KILL) + b"\x0f\x05\xc3"
    if (said := run_code(code)) >= 0:
        return
    raise PermissionError(-said, os.strerror(-said))


def run_code(code):
    """Run machine code, and return what it returns."""
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    place = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return ctypes.CFUNCTYPE(ctypes.c_long)(place)()


def call_of_another_table(table):
    """Signal by a call of another table of x86: of 32 bits (int 0x80), or of x32. It ends the process at once."""
    if platform.machine() != "x86_64":
        return "another machine"
    if table == "int80":
        return run_code(b"\x53\xb8" + struct.pack("i", 37) + b"\xbb" + struct.pack("i", PID) + b"\xb9\x09\0\0\0\xcd\x80\x5b\xc3")
    return SYSTEM.syscall(ctypes.c_long(0x40000000 | 62), ctypes.c_long(PID), ctypes.c_long(KILL))


def tried(name):
    """Return what came of a try: "refused", or how it got through."""
    try:
        TRIES[name]()
    except OSError as error:
        held = error.errno in (HIDDEN if name.startswith(("read", "list", "write")) else REFUSALS)
        limits = error.errno in (errno.EMFILE, errno.ENOMEM, errno.EFBIG) and name.startswith(("open very", "map much", "say more"))
        return "refused" if held or limits else f"got through: {error!r}"
    except (MemoryError, ValueError, RuntimeError) as error:  # Python's own words for limits that hold
        return "refused" if type(error) in OWN_WORDS.get(name, ()) else f"got through: {error!r}"
    return "got through"


OWN_WORDS = {"take much memory": (MemoryError,), "raise its limit": (ValueError,), "start a thread": (RuntimeError,)}


@dataclass(frozen=True)
class Raider:
    declares = Declaration(needs=())

    def plan(self, observation, memory):
        """Try what has the number of the goal, and raise what came of it; numbers below 0 are those of tables."""
        if (number := int(observation.goal[0])) < 0:
            raise RuntimeError(f"-> {call_of_another_table(('', 'x32', 'int80')[number])}")
        raise RuntimeError(f"-> {tried(list(TRIES)[number])}")


if TARGETS.get("at once"):
    came = {name: tried(name) for name in TRIES}
    raise RuntimeError(f"{len(came)} tries, not refused: { {name: said for name, said in came.items() if said != 'refused'} }")
