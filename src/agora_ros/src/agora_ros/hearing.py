"""Subscribers that keep hearing a publisher that withdraws and offers its topic again in a moment, as RViz does while it opens."""

from __future__ import annotations

import threading
from collections import Counter
from http.client import HTTPException
from xmlrpc.client import Error, ServerProxy

import rosgraph
import rospy

_PERIOD = 2.0  # s of the wall's clock between two looks


class Hearing:
    """Checks now and then whether this node is connected with all publishers of its topics.

    rospy connects when the master tells who offers a topic, and takes a connection that the other end is just closing for one that
    lasts. Nobody tells it again. A publisher without a connection in two looks is told anew, in the words of the master.
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
            except (OSError, HTTPException, Error, rosgraph.MasterException):  # the roscore is gone or busy, or the node ends
                self._missed = set()

    def _look(self) -> None:
        """Tell the node of publishers that it has missed twice."""
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
