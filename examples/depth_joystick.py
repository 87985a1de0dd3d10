"""A joystick of SocNavBench that sees people and walls by depth alone: to the goal, away from the side that is nearer.

Start ``agora serve socnavbench --render-mode full-render --camera width=64,height=64``, then ``python examples/depth_joystick.py``.
"""

import base64
import json
import math
import socket
import sys
from pathlib import Path

import numpy as np

RECV, SEND = sys.argv[1:] or ("/tmp/socnavbench_joystick_recv", "/tmp/socnavbench_joystick_send")


def _say(*texts):
    for text in texts:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(RECV)
            connection.sendall(text.encode())


def _hear(listener):
    with listener.accept()[0] as connection, connection.makefile() as text:
        return json.load(text)


def _room(image, camera):
    depth = np.frombuffer(base64.b64decode(image["data"]), image["dtype"]).reshape(image["shape"])
    below, aside = (np.indices(depth.shape) - np.reshape([camera["cy"], camera["cx"]], (2, 1, 1))) / camera["fx"] * depth
    s, c = math.sin(camera["pitch"]), math.cos(camera["pitch"])
    height, ahead = camera["z"] - s * depth - c * below, c * depth - s * below
    way = (depth > 0.0) & (height > 0.1) & (height < 1.9) & (abs(aside) < 0.6)
    return (np.where(way & side, ahead, 5.0).min() for side in (aside < 0.0, aside >= 0.0))


def _twist(state, goal, camera):
    x, y, heading = state["robots"]["robot_agent"]["current_config"]
    left, right = _room(state["images"]["robot_agent"]["depth"], camera)
    near, turn = min(left, right), math.remainder(math.atan2(goal[1] - y, goal[0] - x) - heading, math.tau)
    if near < min(2.0, math.dist(goal[:2], (x, y))):
        turn = (2.5 - near) * (-1.0 if left < right else 1.0)
    return min(1.2, max(0.0, near - 0.5)) * max(0.0, math.cos(turn)), max(-1.1, min(1.1, 2.0 * turn))


Path(SEND).unlink(missing_ok=True)
with socket.socket(socket.AF_UNIX) as first, socket.create_server(SEND, family=socket.AF_UNIX) as listener:
    first.connect(RECV)
    listener.accept()[0].close()
    for _ in _hear(listener)["episodes"]:
        begun = _hear(listener)
        goal, camera = begun["robots"]["robot_agent"]["goal_config"], begun["cameras"]["robot_agent"]
        _say("algo: depth", "ready", "sense")
        while (state := _hear(listener))["robot_on"]:
            _say(json.dumps({"j_input": [_twist(state, goal, camera)]}), "sense")
        print(begun["episode_name"], state["termination_cause"], f"{state['sim_t']:.2f} s")
