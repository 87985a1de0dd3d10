"""The plugin node, which computes forces on pedestrians from the messages of a crowd node."""

from __future__ import annotations

import threading
import time
import traceback
from typing import Any

import rospy
from pedsim_msgs.msg import AgentFeedbacks, PedsimAgentsDataframe
from std_msgs.msg import Empty

from agora.errors import InputError
from agora_msgs.srv import BeginEpisode, BeginEpisodeResponse
from agora_pedsim.people_topics import SemanticTopics
from agora_pedsim.plugin import OverArrays, find_plugin

_CONNECT = 5.0  # s of wall time to wait for the crowd to subscribe


class PluginNode:
    """Answers every ``pedsim_agents_data`` message with the output of a plugin (`agora_pedsim.plugin`), with the same stamp.

    Between ``reset_start`` and ``reset_end`` the node does not answer; a new plugin is created at each ``reset_start``.
    ``crowdsim_agents/begin`` also ends this pause, and returns once the crowd has subscribed, so that no episode begins without the
    plugin. If the plugin fails, nothing is sent, so the crowd continues with its own model, and the error is logged once. If data
    arrives faster than the plugin computes, only the latest message is used. The node does not depend on a clock and does not
    publish any cmd_vel.

    Raises:
        InputError: there is no such plugin.
    """

    def __init__(self) -> None:
        text = str(rospy.get_param("~forcemodel", "") or rospy.get_param("sfm", "") or "passthrough")
        numbers = float(rospy.get_param("~dt", 0.0)), float(rospy.get_param("~radius", 0.3))
        self._make = find_plugin(text, list(rospy.get_param("~plugins", [])), *numbers)
        relayed = bool(rospy.get_param("~relayed", False))
        data, feedback = ("crowdsim_agents/input", "crowdsim_agents/feedback") if relayed else (
            "pedsim_simulator/pedsim_agents_data", "pedsim_simulator/pedsim_agents_feedback",
        )  # fmt: skip
        self._lock, self._failed = threading.Lock(), False
        self._resetting = bool(rospy.get_param("resetting", False))
        self._plugin = self._make()
        self._semantic = SemanticTopics() if rospy.get_param("~semantics", False) else None
        self._publisher = rospy.Publisher(feedback, AgentFeedbacks, queue_size=1, tcp_nodelay=True)
        rospy.Subscriber("reset_start", Empty, self._on_reset_start, queue_size=1)
        rospy.Subscriber("reset_end", Empty, self._on_reset_end, queue_size=1)
        self._data = rospy.Subscriber(data, PedsimAgentsDataframe, self._on_data, queue_size=1, buff_size=2**22, tcp_nodelay=True)
        rospy.Service("crowdsim_agents/begin", BeginEpisode, self._on_begin)
        rospy.loginfo("crowdsim_agents: plugin %s answers %s", text, rospy.resolve_name(data))

    def _on_reset_start(self, _: Any) -> None:
        with self._lock:
            self._resetting, self._failed = True, False
            self._plugin = self._make()

    def _on_reset_end(self, _: Any) -> None:
        self._resetting = False

    def _on_begin(self, _: Any) -> BeginEpisodeResponse:
        end = time.monotonic() + _CONNECT
        while not (self._data.get_num_connections() and self._publisher.get_num_connections()):
            if time.monotonic() > end or rospy.is_shutdown():
                message = f"no node subscribes to {self._publisher.resolved_name}: is pedsim_simulator running?"
                rospy.logerr("crowdsim_agents: %s", message)
                return BeginEpisodeResponse(False, message)
            rospy.rostime.wallsleep(0.01)
        self._resetting = False
        return BeginEpisodeResponse(True, "")

    def _on_data(self, data: Any) -> None:
        with self._lock:
            if self._resetting:
                return
            try:
                answer = self._plugin.feedback(data)
            except Exception as error:  # noqa: BLE001 - the plugin is somebody else's code
                self._report_error(error)
                return
            self._publisher.publish(answer)
            if self._semantic and isinstance(self._plugin, OverArrays) and self._plugin.crowd:
                self._semantic.publish(self._plugin.crowd, data.header)

    def _report_error(self, error: Exception) -> None:
        if not self._failed:
            where = "" if isinstance(error, InputError) else "\n" + "".join(traceback.format_exception(error)[-2:])
            rospy.logerr("crowdsim_agents: the plugin failed, so no forces are sent: %s: %s%s", type(error).__name__, error, where)
        self._failed = True
