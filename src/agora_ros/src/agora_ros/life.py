"""The life cycle of a node, which exits soon after it is asked to, whatever it is doing."""

from __future__ import annotations

import logging
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import NoReturn

import rosgraph
import rospkg
import rospy

from agora.errors import AgoraError
from agora_ros.compiling import Compiling
from agora_ros.hearing import Hearing

_GRACE = 1.5  # s, maximum time from the request to shut down to the exit
_GLANCE = 0.02  # s


def live(name: str, work: Callable[[], object]) -> NoReturn:
    """Run a node until the work is done, SIGINT or SIGTERM arrives, or ``rosnode kill`` requests shutdown.

    By default, rospy cleans up inside the signal handler, i.e. in the main thread. If that thread was in a call to the master, it
    waits endlessly for its own lock, and at exit Python waits for all of rospy's threads. With this function, another thread cleans
    up, the main thread continues until it checks ``rospy.is_shutdown()``, and then the process exits without waiting. Work that is
    still running after 1.5 s, such as compiling a kernel or waiting for a master that does not answer, is aborted.

    Args:
        name: name of the node, unless the command line gives another name.
        work: function that does all the work. An `AgoraError` is reported in one line and gives exit status 2.
    """
    asked: queue.SimpleQueue[str] = queue.SimpleQueue()  # put() must be reentrant, because it is called in signal handlers
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: asked.put(f"signal {number}"))
    ending = threading.Event()

    def closed() -> bool:
        return ending.is_set() or rospy.is_shutdown()

    threading.excepthook = lambda failed: None if closed() else threading.__excepthook__(failed)  # e.g. rospy's status threads
    threading.Thread(target=_end, args=(name, asked, ending), daemon=True).start()
    stand_where_started()
    status = 0
    try:
        rospy.init_node(name, disable_signals=True)
        rospy.on_shutdown(lambda: asked.put("shutdown"))
        Compiling()
        Hearing()
        work()
    except AgoraError as error:
        rospy.logfatal(f"{name}: {error}")
        status = 2
    except rospy.ROSInterruptException:
        pass
    except ConnectionError as error:
        rospy.logfatal(f"{name}: the roscore at {rosgraph.get_master_uri()} does not answer: {error}")
        status = 1
    except Exception:  # noqa: BLE001 said as Python would, which is not reached
        if not closed():  # otherwise it was working on something that is now closed
            traceback.print_exc()
            status = 1
    asked.put("end of its work")
    while not rospy.is_shutdown():  # becomes true after the shutdown work is done
        rospy.rostime.wallsleep(_GLANCE)
    _leave(status)


def stand_where_started() -> None:
    """Resolve relative paths against the user's working directory: roslaunch starts nodes in ROS's home folder, but passes on the
    shell's ``PWD``.
    """
    here, home = os.environ.get("PWD", ""), rospkg.get_ros_home()
    if os.path.isdir(here) and os.path.isdir(home) and os.path.samefile(".", home):
        os.chdir(here)


def _end(name: str, asked: queue.SimpleQueue[str], ending: threading.Event) -> None:
    """Shut the node down once a shutdown is requested."""
    reason = asked.get()
    ending.set()
    for handler in logging.getLogger("rosout").handlers:  # rospy closes topics first, and reports a running callback as an error
        handler.addFilter(lambda record: "publish() to a closed topic" not in record.getMessage())
    threading.Thread(target=rospy.signal_shutdown, args=(reason,), daemon=True).start()
    rospy.rostime.wallsleep(_GRACE)
    sys.stderr.write(f"{name}: was busy for {_GRACE:g} s after the {reason}; killed\n")
    _leave(1)


def _leave(status: int) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
