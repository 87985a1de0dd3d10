"""What the metadata of ONNX files say about the numbers that a policy reads and writes."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from agora.policies.encoding import Observe
from agora.policies.joint_state import COSINE, GOAL, PERSON, RADIUS, ROBOT, SPEED, VX, VY, JointState

GOAL_FRAME = "origin at the robot, x axis towards the goal"
ROBOT_FRAME = "origin at the robot, x axis ahead, y axis to the left"


def notes_of_observe(observe: Observe) -> dict[str, str]:
    """Return the fields, parts and units of an observation of `Observe`."""
    shares = {
        "scan": f"shortest range of each share of the beams / {observe.scan_range:g} m, cut to [0, 1]",
        "goal": f"distance / {observe.goal_range:g} m, cut to [0, 1]; cosine and sine of the bearing",
        "twist": "vx, vy and omega / largest of the robot (m/s, m/s, rad/s), cut to [-1, 1]",
        "earlier": "scans of the control periods before, latest first, each like scan; at the start of an episode the first scan",
        "pedestrians": f"x, y / {observe.pedestrian_range:g} m; vx, vy over ground / {observe.pedestrian_speed:g} m/s; 1 if there",
    }
    parts = {name: [part.start, part.stop] for name, part in observe.parts.items()}
    units = {name: shares.get(name, "from the least value of the field, 0, to the largest, 1") for name in parts}
    fields = {name: number for name, number in asdict(observe).items() if name != "sensors"}
    return _texts(observe=fields, parts=parts, units=units) | {"frame": ROBOT_FRAME}


def notes_of_joint_state(observe: JointState, last: str) -> dict[str, str]:
    """Return the fields, parts and units of a `JointState`; ``last`` says what the last value of a person is."""
    parts = {
        "goal_distance": [GOAL, GOAL + 1],
        "preferred_speed": [SPEED, SPEED + 1],
        "radius": [RADIUS, RADIUS + 1],
        "velocity": [VX, VY + 1],
        "heading": [COSINE, ROBOT],
        "people": [ROBOT, ROBOT + PERSON * observe.people],
    }
    scaled = "m/s, scaled so that the preferred speed is trained_speed"
    units = {
        "goal_distance": f"m, at most {observe.goal_range:g}",
        "preferred_speed": f"m/s, always {observe.trained_speed:g}",
        "radius": "m",
        "velocity": scaled,
        "heading": "cosine and sine",
        "people": f"{PERSON} values each, nearest first: x, y (m); vx, vy ({scaled}); radius (m); {last}",
    }
    return _texts(observe=asdict(observe), parts=parts, units=units) | {"frame": GOAL_FRAME}


def _texts(**notes: Any) -> dict[str, str]:
    """Each note as JSON."""
    return {name: json.dumps(note) for name, note in notes.items()}
