"""A stand-in for a joystick of SocNavBench, written from its protocol: straight to the goal, with no code but Python's own.

As a script: ``python joystick.py RECV SEND [velocity] [vanish=STEPS]``; addresses are paths or HOST:PORT.
"""

from __future__ import annotations

import json
import math
import os
import socket
import sys
import threading
import time


def make_socket(address):
    return socket.socket(socket.AF_UNIX if "/" in address else socket.AF_INET, socket.SOCK_STREAM)


def target(address):
    host, _, port = address.rpartition(":")
    return address if "/" in address else (host, int(port))


def send(address, text):
    """One message: connect, send, close."""
    with make_socket(address) as connection:
        connection.connect(target(address))
        connection.sendall(text if isinstance(text, bytes) else text.encode())


class StandIn:
    """Plays all episodes that it is told of.

    Args:
        recv, send: sockets of the simulator and of the joystick.
        name: of the planner; none is told where None.
        velocity: send [v, w], not [x, y, theta, v].
        ahead: commands of one message.
        watch: called with itself, the state and its number, before a command is sent; returns False to vanish.
    """

    def __init__(self, recv, send, name="StandIn", velocity=False, ahead=1, watch=lambda joystick, state, number: True):
        self.recv, self.sends, self.name, self.velocity, self.ahead, self.watch = recv, send, name, velocity, ahead, watch
        self.episodes, self.metadata, self.states, self.ends, self.waits, self.raw = [], [], [], [], [], []

    def say(self, text):
        send(self.recv, text)

    def hear(self):
        connection, _ = self.listener.accept()
        chunks = []
        with connection:
            while chunk := connection.recv(1024):
                chunks.append(chunk)
        self.raw.append(b"".join(chunks).decode())
        return json.loads(self.raw[-1])

    def meet(self):
        end = time.monotonic() + 300
        self.first = make_socket(self.recv)
        while True:
            try:
                self.first.connect(target(self.recv))
                break
            except (FileNotFoundError, ConnectionRefusedError):
                assert time.monotonic() < end, "no process listens"
                threading.Event().wait(0.02)
        if "/" in self.sends and os.path.exists(self.sends):
            os.remove(self.sends)
        self.listener = make_socket(self.sends)
        self.listener.settimeout(60)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(target(self.sends))
        self.listener.listen(1)
        self.listener.accept()[0].close()
        self.episodes = self.hear()["episodes"]

    def command(self, state):
        x, y, heading = state["robots"]["robot_agent"]["current_config"]
        gx, gy, _ = self.metadata[-1]["robots"]["robot_agent"]["goal_config"]
        to = math.atan2(gy - y, gx - x)
        if self.velocity:
            turn = math.remainder(to - heading, math.tau)
            return [1.2 if abs(turn) < 0.3 else 0.0, max(-1.1, min(1.1, turn / 0.05))]
        return [x + math.cos(to), y + math.sin(to), to, 1.2]

    def play(self):
        self.meet()
        for _ in self.episodes:
            self.metadata.append(self.hear())
            self.states.append([])
            if self.name is not None:
                self.say(f"algo: {self.name}")
            self.say("ready")
            while True:
                began = time.perf_counter()
                self.say("sense")
                state = self.hear()
                self.waits.append(time.perf_counter() - began)
                if not state["robot_on"]:
                    self.ends.append(state)
                    break
                self.states[-1].append(state)
                if not self.watch(self, state, len(self.states[-1])):
                    self.close()
                    return self
                self.say(json.dumps({"j_input": [self.command(state)] * self.ahead}, indent=1))
        self.close()
        return self

    def close(self):
        self.first.close()
        self.listener.close()


if __name__ == "__main__":
    given = sys.argv[3:]
    steps = [int(word[7:]) for word in given if word.startswith("vanish=")]
    stop = (lambda joystick, state, number: number < steps[0]) if steps else (lambda *_: True)
    StandIn(sys.argv[1], sys.argv[2], velocity="velocity" in given, watch=stop).play()
