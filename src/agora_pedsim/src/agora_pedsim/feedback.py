"""A plugin's feedback for the pedestrians (``pedsim_simulator/pedsim_agents_feedback``)."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import rospy
from pedsim_msgs.msg import AgentFeedbacks

from agora.errors import nearest
from agora.node_logic.arena import STATE_NAMES, state_number
from agora.node_logic.crowd import Crowd
from agora_pedsim.messages import agent_ids

_HOW = ("in_place", "added")
_SAME = 1e-6


class Feedback:
    """The latest forces from a plugin, which act until newer forces arrive or until they are ``~feedback_timeout`` s old.

    A force either replaces the crowd model's force or is added to it (``~feedback``: in_place or added). As in Arena's fork,
    ``vmax`` is a factor of the pedestrian's own speed. ``vmax`` and ``social_state`` have an effect only if they differ from the
    pedestrian's values, so a plugin that does not set them changes nothing. Non-finite values and unknown pedestrians are ignored
    and logged.

    In lock step, each step waits for the plugin's answer to its own data, for at most ``~plugin_timeout`` s.
    """

    def __init__(self, synchronous: bool) -> None:
        self._how = str(rospy.get_param("~feedback", "in_place"))
        if self._how not in _HOW:
            rospy.logerr("crowd: parameter ~feedback is %r; %s; using in_place", self._how, nearest(self._how, _HOW))
            self._how = "in_place"
        self._timeout = float(rospy.get_param("~feedback_timeout", 0.5))
        self._patience = float(rospy.get_param("~plugin_timeout", 1.0))
        self._synchronous, self._came = synchronous, threading.Condition()
        self.forget()
        topic = "pedsim_simulator/pedsim_agents_feedback"
        self._subscriber = rospy.Subscriber(topic, AgentFeedbacks, self._on_feedback, queue_size=1, tcp_nodelay=True)

    @property
    def waits(self) -> bool:
        """True if steps wait for a plugin."""
        return self._synchronous and self._subscriber.get_num_connections() > 0

    def forget(self) -> None:
        """Discard the feedback, so that earlier messages no longer have an effect."""
        with self._came:
            self._latest: Any = None
            self._new, self._age, self._acts = False, 0.0, False
            self._said, self._factors = set[str](), dict[int, float]()

    def _on_feedback(self, message: Any) -> None:
        with self._came:
            self._latest, self._new = message, True
            self._came.notify_all()

    def wait(self, stamp: Any) -> None:
        """Wait for the plugin's answer to the data with this stamp."""
        with self._came:
            answered = self._came.wait_for(
                lambda: self._latest is not None and self._latest.header.stamp == stamp, timeout=self._patience
            )
        if not answered:
            self._say(f"no feedback for {stamp.to_sec():.3f} s within {self._patience:g} s: the crowd's own model continues")

    def apply(self, crowd: Crowd) -> None:
        """Apply the latest feedback to the next step."""
        with self._came:
            message, new, self._new = self._latest, self._new, False
        if new:
            self._age = 0.0
            self._take(crowd, message)
        elif self._acts:
            self._age += crowd.world.dt
            if self._age > self._timeout:
                crowd.feed(np.zeros(0, int), np.zeros((0, 2)))
                self._acts = False
                self._say(f"no feedback for {self._timeout:g} s: the crowd's own model moves all pedestrians again")

    def _take(self, crowd: Crowd, message: Any) -> None:
        there = set(crowd.slots.tolist())
        slots_of = {name: slot for slot, name in enumerate(agent_ids(crowd)) if slot in there}
        slots, forces = [], []
        for agent in message.agents:
            slot = slots_of.get(agent.id)
            if slot is None:
                self._say(f"feedback for {agent.id!r}, which does not exist, is ignored")
                continue
            self._change(crowd, slot, agent)
            if not (math.isfinite(agent.force.x) and math.isfinite(agent.force.y)):
                self._say(f"feedback for {agent.id!r} is not finite and is ignored; check the plugin")
                continue
            slots.append(slot)
            forces.append((agent.force.x, agent.force.y))
        self._acts = bool(slots)
        crowd.feed(np.array(slots, int), np.array(forces).reshape(-1, 2), self._how)

    def _change(self, crowd: Crowd, slot: int, agent: Any) -> None:
        """Change a pedestrian's speed and social state, if they differ from its current values."""
        own, number = crowd.start.pedestrians.speed, int(crowd.traits.id[0, slot])
        changes = math.isfinite(agent.vmax) and agent.vmax >= 0 and abs(agent.vmax - self._factors.get(number, 1.0)) > _SAME
        if changes and slot < len(own):
            self._factors[number] = agent.vmax
            crowd.traits.speed[0, slot] = crowd.minds.speed[0, slot] = own[slot] * agent.vmax
        if agent.social_state in ("", STATE_NAMES[crowd.minds.state[0, slot]]):
            return
        state = state_number(agent.social_state)
        if state is None:
            self._say(f"no social state called {agent.social_state!r}; {nearest(agent.social_state, STATE_NAMES)}")
        else:
            crowd.minds.state[0, slot] = state

    def _say(self, text: str) -> None:
        """Log a text, once per episode."""
        if text not in self._said:
            self._said.add(text)
            rospy.logwarn("crowd: %s", text)
