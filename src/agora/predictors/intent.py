"""The intent of pedestrians: the recent mean velocity and mean speed of each pedestrian."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.scalar import ONE
from agora.core.state import Floats, freeze
from agora.interfaces import Memory, Tracks


def intents(people: Tracks, memory: Memory, dt: float, averaging: float) -> tuple[Floats, Floats, Memory]:
    """Return exponentially weighted means of each pedestrian's past velocity and speed, and the memory for the next call.

    Pedestrians are matched by id, regardless of their slots. For a pedestrian seen for the first time, the means are its current
    velocity and speed.

    Args:
        people: tracks of N rows with Q slots.
        memory: memory of the previous call; {} at the start.
        dt: time since the previous call, s.
        averaging: time constant of the means, s; 0 returns the current values.

    Returns:
        Mean velocity (N, Q, 2), m/s; mean speed (N, Q), m/s; the memory.
    """
    velocity, speed = np.zeros_like(people.velocity, np.float32), np.zeros(people.present.shape, np.float32)
    before = memory or {
        "id": np.zeros_like(people.id),
        "known": np.zeros_like(people.present),
        "velocity": np.zeros_like(velocity),
        "speed": np.zeros_like(speed),
    }
    share = np.float32(1.0 - math.exp(-dt / averaging) if averaging > 0 else 1.0)
    now = (freeze(people.velocity), freeze(people.present), freeze(people.id))
    past = tuple(freeze(before[name]) for name in ("velocity", "speed", "known", "id"))
    _average(share, now, past, velocity, speed, 0, len(speed))
    kept = {"id": people.id.copy(), "known": people.present.copy(), "velocity": velocity.copy(), "speed": speed.copy()}
    return velocity, speed, kept


@lean_kernel
def _average(share, now, past, mean_velocity, mean_speed, first, last):
    velocity, present, identity = now
    velocity_before, speed_before, known, identity_before = past
    slots = present.shape[1]
    for n in range(first, last):
        for q in range(slots):
            if not present[n, q]:
                continue
            vx, vy = velocity[n, q, 0], velocity[n, q, 1]
            speed = math.sqrt(vx * vx + vy * vy)
            mean_velocity[n, q, 0], mean_velocity[n, q, 1], mean_speed[n, q] = vx, vy, speed
            for k in range(slots):
                before = (q + k) % slots
                if known[n, before] and identity_before[n, before] == identity[n, q]:
                    kept = ONE - share
                    mean_velocity[n, q, 0] = kept * velocity_before[n, before, 0] + share * vx
                    mean_velocity[n, q, 1] = kept * velocity_before[n, before, 1] + share * vy
                    mean_speed[n, q] = kept * speed_before[n, before] + share * speed
                    break
