"""The recorder node, which writes one rosbag per episode, from which the library computes every metric (`agora.datasets.rosbag`).

With one bag per episode, each bag is either complete or incomplete, like a row of results. If the node is killed or the disk is
full, only part of one episode is lost, and the next episode is written to a new file. A benchmark can count its files. Every file
is self-contained: it holds the episode (its map, robots and pedestrians), the conditions and the parameters.

Messages are stored as raw bytes, as received; only their step number is decoded. ``recorder/begin`` closes the bag of the previous
episode once its last messages have arrived, opens the next bag, and answers when every published topic is connected. Messages about
step 0 that arrive before that are kept for the new bag. Stale data: a bag ends with the last message of its episode, and messages
between two episodes are in neither bag. Entries in a bag are stamped with the graph's time (``/clock``); analyses use step numbers
and message stamps. The node does not command robots.

Graph parameter: ``record_data_dir``. Private parameters: ``record_scans`` (false), ``record_clock`` (false), ``record_topics``
([]).
"""

from __future__ import annotations

import re
import struct
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import rosgraph
import rospy
from agora_ros.conversions import from_episode
from agora_ros.names import ros_name
from std_msgs.msg import String

from agora.config import dump
from agora_evaluation.bag import EpisodeBag, check_folder
from agora_msgs.msg import Episode, EpisodeStatus
from agora_msgs.srv import BeginEpisode, BeginEpisodeResponse

STEPPED = ("simulator/robots", "pedsim_simulator/pedestrians")
"""Topics with one message per physics step that contains the step number."""
CONTACTS, STATUS, EPISODE = "simulator/contacts", "simulator/status", "task_generator_server/episode"
PARAMETERS, NOTES = "recorder/parameters", "navigation/notes"
_LAST_WORDS = 2.0  # s of wall time to wait for the last messages of an episode
_CONNECT = 3.0  # s of wall time to wait for publishers to connect


def data_folder(setting: str, prefix: str) -> Path:
    """Return the folder to which ``record_data_dir`` refers.

    Args:
        setting: a folder; as in Arena, ``auto:/more`` stands for the folder ``more`` inside this run's folder, which is named
            ``prefix``.
        prefix: start time of the run, as text.
    """
    if setting.startswith("auto:"):
        return Path("data", prefix, setting[len("auto:") :].lstrip("/")).absolute()
    return Path(setting).expanduser().absolute()


def shared_prefix() -> str:
    """Return the start time of this run, which all recorders share through Arena's parameter ``/data_recorder_autoprefix``."""
    prefix = rospy.get_param("/data_recorder_autoprefix", "")
    if not prefix:
        prefix = datetime.now().strftime("%y-%m-%d_%H-%M-%S")
        rospy.set_param("/data_recorder_autoprefix", prefix)
    return str(prefix)


class RecorderNode:
    """The recorder node, which writes bags; see the module's docstring."""

    def __init__(self) -> None:
        self.folder = self._folder()
        self._scans = bool(rospy.get_param("~record_scans", False))
        self._more = [str(topic) for topic in rospy.get_param("~record_topics", [])]
        if rospy.get_param("~record_clock", False):
            self._more.append("/clock")
        self._bag: EpisodeBag | None = None
        self._episode: Episode | None = None
        self._status: EpisodeStatus | None = None
        self._first: dict[str, Any] = {}
        self._steps: dict[str, int] = {}
        self._contacts, self._noted, self._steps_a_plan = 0, 0, 0
        self._heard = threading.Condition()
        self._subscribers: dict[str, rospy.Subscriber] = {}
        self._begun = threading.Lock()
        self._closed = rospy.Publisher("recorder/bag", String, queue_size=10, latch=True)
        for topic in (*STEPPED, CONTACTS, NOTES, *self._more):
            self._listen(topic)
        self._subscribers[STATUS] = rospy.Subscriber(STATUS, EpisodeStatus, self._on_status, queue_size=100, tcp_nodelay=True)
        self._left_over()
        rospy.Service("recorder/begin", BeginEpisode, self._begin)
        rospy.loginfo("recorder: writing bags of episodes to %s", self.folder)

    @staticmethod
    def _folder() -> Path:
        return data_folder(str(rospy.get_param("record_data_dir", "") or "auto:"), shared_prefix())

    def _left_over(self) -> None:
        for path in sorted(self.folder.glob("*.bag.active")) if self.folder.is_dir() else ():
            rospy.logwarn("recorder: %s was not closed; read its contents with agora bag %s", path.name, path)

    def _listen(self, topic: str) -> None:
        if topic not in self._subscribers:
            self._subscribers[topic] = rospy.Subscriber(topic, rospy.AnyMsg, self._on_message, topic, tcp_nodelay=True)

    def _on_message(self, message: rospy.AnyMsg, topic: str) -> None:
        """Store a message. The first messages of an episode are kept until its bag is open."""
        with self._heard:
            if topic in STEPPED:
                step = step_of(message._buff)
                if step == 0:
                    self._first[topic] = message
                    if self._steps.get(topic, 0) > 0:
                        return
                self._steps[topic] = step
            elif topic == CONTACTS:
                self._contacts += 1
            elif topic == NOTES:
                self._noted += 1
            if self._bag is not None:
                self._bag.write(rospy.resolve_name(topic), message)
            self._heard.notify_all()

    def _on_status(self, status: EpisodeStatus) -> None:
        """Store the episode's status, and close its bag once it has ended and its last messages have arrived."""
        with self._heard:
            self._status = status
            if self._bag is None or self._episode is None or status.number != self._episode.number:
                return
            self._bag.write(rospy.resolve_name(STATUS), status)
        if status.done or status.interrupted:
            threading.Thread(target=self._end, args=(self._bag,), daemon=True).start()

    def _end(self, bag: EpisodeBag | None, patience: float = _LAST_WORDS) -> None:
        """Close a bag, if it is still the current one, once all messages of its episode have been stored."""
        with self._heard:
            self._heard.wait_for(self._complete, patience)
            if bag is None or bag is not self._bag:
                return
            self._bag = None
        bag.close()
        if not bag.problem:
            self._closed.publish(str(bag.path))

    def _complete(self) -> bool:
        """Return whether the messages of the last step, all contacts and, in lock step, the notes of all plans have arrived."""
        status = self._status
        if status is None or not status.done:
            return True
        steps = [self._steps[topic] for topic in STEPPED if topic in self._steps]
        planned = not self._noted or self._noted * self._steps_a_plan >= status.step or not self._steps_a_plan
        touched = self._contacts >= sum(robot.contacts for robot in status.robots)
        return all(step >= status.step for step in steps) and touched and planned

    def _begin(self, request: Any) -> BeginEpisodeResponse:
        """Handle ``recorder/begin``: afterwards, the bag is open, and all published messages are stored in it."""
        with self._begun:
            self._end(self._bag)
            episode = request.episode
            self.folder = self._folder()
            try:
                check_folder(self.folder)
                bag = EpisodeBag(self.folder / f"{_file_name(episode)}.bag")
            except OSError as error:
                message = f"recorder: {self.folder}: cannot be written: {error.strerror or error}; choose another record_data_dir"
                rospy.logerr(message)
                return BeginEpisodeResponse(False, message)
            bag.write(rospy.resolve_name(EPISODE), episode)
            bag.write(rospy.resolve_name(PARAMETERS), String(dump(_plain(rosgraph.Master(rospy.get_name()).getParam("/")))))
            self._open(bag, episode)
            self._connect(episode)
            return BeginEpisodeResponse(not bag.problem, bag.problem)

    def _open(self, bag: EpisodeBag, episode: Episode) -> None:
        """Start storing messages in a bag, starting with the messages of step 0 that arrived earlier."""
        with self._heard:
            self._steps, self._contacts, self._noted = {}, 0, 0
            lock_step = bool(rospy.get_param("synchronous", False))
            self._steps_a_plan = from_episode(episode)[1].periods.steps("control") if lock_step else 0
            for topic, message in self._first.items():
                bag.write(rospy.resolve_name(topic), message)
                self._steps[topic] = 0
            if self._status is not None and self._status.number == episode.number:
                bag.write(rospy.resolve_name(STATUS), self._status)
            self._bag, self._episode = bag, episode

    def _connect(self, episode: Episode) -> None:
        """Subscribe to the robots' topics, and wait until all published topics are connected."""
        names = [ros_name(robot.name) for robot in episode.robots]
        kinds = ["odom", "cmd_vel", "global_plan", "collision", "move_base_simple/goal", *(["scan"] if self._scans else [])]
        wanted = {f"{name}/{kind}" for name in names for kind in kinds}
        fixed = {*STEPPED, CONTACTS, NOTES, STATUS, *self._more}
        for topic in set(self._subscribers) - wanted - fixed:
            self._subscribers.pop(topic).unregister()
        for topic in sorted(wanted):
            self._listen(topic)
        published = {name for name, _ in rosgraph.Master(rospy.get_name()).getPublishedTopics("")}
        missing = [t for t in self._subscribers if rospy.resolve_name(t) in published]
        end = time.monotonic() + _CONNECT
        with self._heard:
            while missing and time.monotonic() < end:
                missing = [t for t in missing if self._subscribers[t].get_num_connections() == 0]
                self._heard.wait(0.01)
        if missing:
            rospy.logwarn(
                "recorder: no connection to %s after %g s; their messages are missing from the bag", ", ".join(missing), _CONNECT
            )

    def close(self) -> None:
        """Close the open bag as it is; at shutdown, the node does not wait for last messages."""
        self._end(self._bag, patience=0.0)


def step_of(buffer: bytes) -> int:
    """Return the ``step`` field that follows the header of a serialised message."""
    (frame,) = struct.unpack_from("<I", buffer, 12)
    return int(struct.unpack_from("<I", buffer, 16 + frame)[0])


def _file_name(episode: Any) -> str:
    return f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', episode.entry)}_{episode.number}"


def _plain(parameters: Any) -> Any:
    """Return parameters as plain data; values that YAML cannot represent are converted to strings."""
    if isinstance(parameters, dict):
        return {str(key): _plain(value) for key, value in parameters.items()}
    if isinstance(parameters, list):
        return [_plain(value) for value in parameters]
    finite = isinstance(parameters, float) and parameters - parameters == 0
    return parameters if finite or isinstance(parameters, bool | int | str) else str(parameters)
