"""Stands in for ROS-TCP-Endpoint: one player at a time, its topics and its services."""

from __future__ import annotations

import json
import queue
import socket
import threading
from typing import Any

import rospy

from standins.wire import frame, receive, type_of


class Endpoint:
    """Listens; what the player registers becomes publishers, subscribers and services of this node."""

    def __init__(self) -> None:
        self._listener = socket.create_server((rospy.get_param("~tcp_ip", "127.0.0.1"), rospy.get_param("~tcp_port", 10000)))
        self._player: socket.socket | None = None
        self._sending = threading.Lock()
        self._publishers: dict[str, Any] = {}
        self._doors: dict[str, Any] = {}
        self._answers: dict[int, queue.Queue] = {}
        self._next = 1001

    def run(self) -> None:
        """Serve one player after the other."""
        self._listener.settimeout(0.2)
        while not rospy.is_shutdown():
            try:
                player, _ = self._listener.accept()
            except TimeoutError:
                continue
            self._player = player
            self._send(frame("__handshake", {"version": "v0.7.0", "metadata": json.dumps({"protocol": "ROS1"})}))
            threading.Thread(target=self._serve, args=(player,), daemon=True).start()

    def _send(self, data: bytes) -> None:
        with self._sending:
            if self._player is not None:
                try:
                    self._player.sendall(data)
                except OSError:
                    self._player = None

    def _serve(self, player: socket.socket) -> None:
        pending = None
        try:
            while True:
                destination, payload = receive(player)
                if pending is not None:
                    self._answers.pop(pending).put(payload)
                    pending = None
                elif destination == "__response":
                    pending = json.loads(payload)["srv_id"]
                elif destination.startswith("__"):
                    self._command(destination, json.loads(payload))
                elif destination in self._publishers:
                    publisher, kind = self._publishers[destination]
                    publisher.publish(kind().deserialize(payload))
                elif destination:
                    self._send(frame("__error", {"text": f"Not registered to publish topic '{destination}'!"}))
        except ConnectionError:
            rospy.loginfo("the player has disconnected")

    def _command(self, command: str, given: dict) -> None:
        topic, kind = given.get("topic", ""), given.get("message_name", "")
        if command == "__publish":
            message = type_of(kind, "msg")
            self._publishers[topic] = rospy.Publisher(topic, message, queue_size=10), message
        elif command == "__subscribe" and topic not in self._doors:
            self._doors[topic] = rospy.Subscriber(topic, type_of(kind, "msg"), lambda m: self._send(frame(topic, m)), queue_size=10)
        elif command == "__unity_service" and topic not in self._doors:
            service = type_of(kind, "srv")
            self._doors[topic] = rospy.Service(topic, service, lambda request: self._ask(topic, service, request))

    def _ask(self, topic: str, service: Any, request: Any) -> Any:
        number, self._next = self._next, self._next + 1
        answer = self._answers[number] = queue.Queue()
        self._send(frame("__request", {"srv_id": number}) + frame(topic, request))
        return service._response_class().deserialize(answer.get(timeout=10.0))


if __name__ == "__main__":
    rospy.init_node("tcp_endpoint")
    Endpoint().run()
