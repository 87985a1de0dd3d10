"""Converts a crowd to the messages of Arena's fork of pedsim_ros."""

from __future__ import annotations

from typing import Any

import numpy as np
from agora_ros.conversions import quaternion
from geometry_msgs.msg import Point, Pose, Twist, Vector3
from pedsim_msgs import msg
from std_msgs.msg import Header

from agora.core.state import Array
from agora.node_logic.arena import STATE_NAMES, type_name
from agora.node_logic.crowd import Crowd

_WAYPOINT_RADIUS = 0.3


def agent_ids(crowd: Crowd) -> list[str]:
    """Return the name by which messages refer to the pedestrian in each slot: its own name if that is unique, otherwise its id."""
    numbers, names = crowd.traits.id[0, : crowd.start.crowd_size].tolist(), list(crowd.start.names)
    names += [""] * (len(numbers) - len(names))
    once = {name for name in names if name and names.count(name) == 1}
    return [name if name in once else str(number) for name, number in zip(names, numbers, strict=False)]


def agent_states(crowd: Crowd, header: Header) -> list[msg.AgentState]:
    """Return the states of all pedestrians that are present. ``forces.force`` is the last acceleration computed by the crowd model
    alone, m/s2.
    """
    now, traits, minds, goals = crowd.pedestrians, crowd.traits, crowd.minds, crowd.goals
    ids, force = agent_ids(crowd), crowd.acceleration
    by_number = dict(zip(traits.id[0].tolist(), ids, strict=False))
    states = []
    for k in crowd.slots.tolist():
        pull, heading = Vector3(float(force[k, 0]), float(force[k, 1]), 0.0), float(now.heading[0, k])
        partner, state = by_number.get(int(minds.partner[0, k]), ""), STATE_NAMES[minds.state[0, k]]
        listens = state == "Listening"
        states.append(
            msg.AgentState(
                header=header, id=ids[k], type=type_name(minds.type[0, k]), social_state=state,
                pose=Pose(Point(float(now.x[0, k]), float(now.y[0, k]), 0.0), quaternion(heading)),
                twist=Twist(linear=Vector3(float(now.vx[0, k]), float(now.vy[0, k]), 0.0)),
                forces=msg.AgentForce(
                    vmax=float(traits.speed[0, k]), desired_ffactor=1.0, obstacle_ffactor=1.0, social_ffactor=1.0,
                    robot_ffactor=1.0, force=pull,
                ),
                talking_to_id="" if listens else partner, listening_to_id=partner if listens else "", acceleration=pull,
                destination=Vector3(float(goals.x[0, k]), float(goals.y[0, k]), 0.0), direction=heading,
            )
        )  # fmt: skip
    return states


def agent_groups(crowd: Crowd, header: Header) -> list[msg.AgentGroup]:
    """Return the walking groups of the pedestrians that are present."""
    ids, now, there = agent_ids(crowd), crowd.pedestrians, crowd.slots
    groups = []
    for number in np.unique(crowd.traits.group[0, there]):
        members = there[crowd.traits.group[0, there] == number]
        if number < 0:
            continue
        centre = Pose(Point(float(now.x[0, members].mean()), float(now.y[0, members].mean()), 0.0), quaternion(0.0))
        groups.append(msg.AgentGroup(header, str(number), crowd.time, [ids[k] for k in members], centre))
    return groups


def waypoints(crowd: Crowd) -> list[msg.Waypoint]:
    """Return the waypoints of the pedestrians that are present, one list after another."""
    ids, goals, found = agent_ids(crowd), crowd.world.waypoints, []
    for k in crowd.slots.tolist():
        for n in range(int(goals.count[0, k])):
            place = Point(float(goals.list_x[0, k, n]), float(goals.list_y[0, k, n]), 0.0)
            found.append(msg.Waypoint(f"{ids[k]}/{n}", 0, msg.Waypoint.BHV_SIMPLE, place, _WAYPOINT_RADIUS, 0.0))
    return found


def walls(segments: Array) -> list[msg.Wall]:
    """Return messages with walls, given as segments (K, 4) x0, y0, x1, y1, m."""
    return [msg.Wall(Point(a, b, 0.0), Point(c, d, 0.0), 0) for a, b, c, d in segments.tolist()]


def obstacles(crowd: Crowd) -> list[msg.Obstacle]:
    """Return the furniture of the episode, including furniture that was added later."""
    return [
        msg.Obstacle(
            thing.name, thing.furniture.model,
            Pose(Point(thing.furniture.x, thing.furniture.y, 0.0), quaternion(thing.furniture.heading)),
            1.0 if thing.kind == "interactive" else 0.0, "",
        )
        for thing in crowd.start.things
    ]  # fmt: skip


def robot_states(crowd: Crowd, names: list[str]) -> list[msg.RobotState]:
    """Return the states of the robots, with velocities in the map frame."""
    robots = crowd.robots
    rows = zip(
        names, *(getattr(robots, name)[0].tolist() for name in ("x", "y", "heading", "world_vx", "world_vy", "omega")), strict=False
    )
    return [
        msg.RobotState(name, Pose(Point(x, y, 0.0), quaternion(heading)), Twist(Vector3(vx, vy, 0.0), Vector3(0.0, 0.0, omega)))
        for name, x, y, heading, vx, vy, omega in rows
    ]


def dataframe(crowd: Crowd, names: list[str], edges: list[msg.Wall], header: Header) -> Any:
    """Return the message that is sent to a plugin."""
    return msg.PedsimAgentsDataframe(
        header=header, agent_states=agent_states(crowd, header), robot_states=robot_states(crowd, names),
        simulated_waypoints=waypoints(crowd), simulated_groups=agent_groups(crowd, header), obstacles=obstacles(crowd), walls=edges,
    )  # fmt: skip
