"""The life of a node: it works, and ends soon after it is asked to, whatever it is in the middle of."""

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

_GRACE = 1.5  # s from the wish that a node end to its end, at the latest
_GLANCE = 0.02  # s


def live(name: str, work: Callable[[], object]) -> NoReturn:
    """Be a node until the work is done, somebody sends SIGINT or SIGTERM, or ``rosnode kill`` asks for it.

    rospy alone tidies up inside the signal's handler, which is to say in the main thread: where that was in a call to the master,
    it waits for its own lock for ever, and afterwards Python waits for every thread of rospy's. Here another thread does it, the
    main one goes on to where it looks at ``rospy.is_shutdown()``, and then nothing is waited for. What is still busy after 1.5 s,
    with a kernel that is compiled or a master that does not answer, is cut off.

    Args:
        name: name of the node, where nobody gives another.
        work: all of it. An `AgoraError` becomes one line and exit status 2.
    """
    asked: queue.SimpleQueue[str] = queue.SimpleQueue()  # its put may interrupt itself, as handlers do
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: asked.put(f"signal {number}"))
    ending = threading.Event()

    def closed() -> bool:
        return ending.is_set() or rospy.is_shutdown()

    threading.excepthook = lambda failed: None if closed() else threading.__excepthook__(failed)  # as rospy's that publish a status
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
        if not closed():  # else it was at work on what is closed now
            traceback.print_exc()
            status = 1
    asked.put("end of its work")
    while not rospy.is_shutdown():  # which is after what was to be done at the end
        rospy.rostime.wallsleep(_GLANCE)
    _leave(status)


def stand_where_started() -> None:
    """Let relative paths begin where the user is: roslaunch starts nodes in ROS's home, and leaves them the shell's ``PWD``."""
    here, home = os.environ.get("PWD", ""), rospkg.get_ros_home()
    if os.path.isdir(here) and os.path.isdir(home) and os.path.samefile(".", home):
        os.chdir(here)


def _end(name: str, asked: queue.SimpleQueue[str], ending: threading.Event) -> None:
    """End the node once somebody asks for it."""
    reason = asked.get()
    ending.set()
    for handler in logging.getLogger("rosout").handlers:  # rospy closes topics first, and calls a callback that is at work bad
        handler.addFilter(lambda record: "publish() to a closed topic" not in record.getMessage())
    threading.Thread(target=rospy.signal_shutdown, args=(reason,), daemon=True).start()
    rospy.rostime.wallsleep(_GRACE)
    sys.stderr.write(f"{name}: was busy for {_GRACE:g} s after the {reason}; killed\n")
    _leave(1)


def _leave(status: int) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
