"""Keeps subscribers connected to publishers that withdraw a topic and advertise it again at once, as RViz does while it opens."""

from __future__ import annotations

import threading
from collections import Counter
from http.client import HTTPException
from xmlrpc.client import Error, ServerProxy

import rosgraph
import rospy

_PERIOD = 2.0  # s of wall time between two checks


class Hearing:
    """Checks periodically whether this node is connected to all publishers of its topics.

    rospy connects when the master announces the publishers of a topic, but it may mistake a connection that the other end is just
    closing for a lasting one, and the master does not announce the publisher again. If this node has no connection to a publisher
    in two consecutive checks, this class repeats the master's announcement.
    """

    def __init__(self) -> None:
        self._master, self._own = rosgraph.Master(rospy.get_name()), ServerProxy(rospy.get_node_uri())
        self._missed: set[tuple[str, str]] = set()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while not rospy.is_shutdown():
            rospy.rostime.wallsleep(_PERIOD)
            try:
                self._look()
            except (OSError, HTTPException, Error, rosgraph.MasterException):  # roscore gone or busy, or the node is shutting down
                self._missed = set()

    def _look(self) -> None:
        """Announce the publishers that the node has missed twice."""
        name = rospy.get_name()
        offered = dict(self._master.getSystemState()[0])
        heard = [(row[4], row[1]) for row in self._own.getBusInfo(name)[2] if row[2] == "i"]
        count = Counter(topic for topic, _ in heard)
        missed = set()
        for topic, _ in self._own.getSubscriptions(name)[2]:
            if len(offered.get(topic, ())) > count[topic]:
                there = [self._master.lookupNode(node) for node in offered[topic]]
                missed |= {(topic, uri) for uri in there if (topic, uri) not in heard}
                if any((topic, uri) in self._missed for uri in there):
                    self._own.publisherUpdate("/master", topic, there)
        self._missed = missed
