"""The force models in plain float64 NumPy: one pedestrian at a time, as the papers have them.

Each twin returns accelerations (W, P, 2), 0 for slots not in use, and the sum of the sizes of the terms they are made of, (W, P),
which parity is measured against.
"""

from __future__ import annotations

import numpy as np


def direction(position, goal):
    way = goal - position
    distance = np.sqrt(way @ way + 1e-12)
    return way / distance, distance


def clearance(maps, m, x, y):
    """Distance to the nearest obstacle and unit vector away from it, bilinear between cell centres."""
    rows, columns = int(maps.rows[m]), int(maps.columns[m])
    start = int(maps.clearance_start[m])
    field = maps.clearance[start : start + rows * columns].reshape(rows, columns).astype(np.float64)
    u = np.clip((x - maps.origin_x[m]) / maps.resolution[m] - 0.5, 0.0, np.float32(columns) - np.float32(1.001))
    v = np.clip((y - maps.origin_y[m]) / maps.resolution[m] - 0.5, 0.0, np.float32(rows) - np.float32(1.001))
    c, r = int(u), int(v)
    a, b = u - c, v - r
    corner = field[r : r + 2, c : c + 2]
    value = np.array([1 - b, b]) @ corner @ np.array([1 - a, a])
    gradient = np.array([np.array([1 - b, b]) @ (corner[:, 1] - corner[:, 0]), (corner[1] - corner[0]) @ np.array([1 - a, a])])
    return value, gradient / np.sqrt(gradient @ gradient + 1e-9)


def pedestrians_of(crowd, sees):
    """Yield for each active pedestrian its index, its values, and the discs (position, velocity, radius) that it reacts to."""
    people, traits, waypoints, robots = crowd.pedestrians, crowd.traits, crowd.waypoints, crowd.robots
    position = np.stack([people.x, people.y], -1).astype(np.float64)
    velocity = np.stack([people.vx, people.vy], -1).astype(np.float64)
    goal = np.stack([waypoints.x, waypoints.y], -1).astype(np.float64)
    for w, i in zip(*np.nonzero(people.active), strict=True):
        others, machines = people.active[w] & bool(sees & 1), robots.active[w] & bool(sees & 2)
        others[i] = False
        discs = (
            np.concatenate([position[w, others], np.stack([robots.x, robots.y], -1)[w, machines]]),
            np.concatenate([velocity[w, others], np.stack([robots.world_vx, robots.world_vy], -1)[w, machines]]),
            np.concatenate([traits.radius[w, others], crowd.robot_traits.radius[w, machines]]).astype(np.float64),
        )
        staying = waypoints.mode[w, i] == 2 and waypoints.index[w, i] >= waypoints.count[w, i] - 1
        radius, speed = float(traits.radius[w, i]), float(traits.speed[w, i])
        yield (w, i), position[w, i], velocity[w, i], goal[w, i], radius, speed, staying, discs


def members_of(crowd, w, i):
    """Positions of the other members of a pedestrian's group."""
    people, group = crowd.pedestrians, crowd.traits.group
    same = people.active[w] & (group[w] == group[w, i]) & (group[w] >= 0)
    same[i] = False
    return np.stack([people.x, people.y], -1)[w, same].astype(np.float64)


def collect(crowd, sees, terms_of):
    """Run ``terms_of`` for every active pedestrian and add up what it returns, terms (N, 2)."""
    total = np.zeros((*crowd.pedestrians.x.shape, 2))
    size = np.zeros(crowd.pedestrians.x.shape)
    for at, *values in pedestrians_of(crowd, sees):
        terms = np.array(terms_of(at, *values), np.float64).reshape(-1, 2)
        total[at], size[at] = terms.sum(0), np.linalg.norm(terms, axis=1).sum()
    return total, size


def relaxation(velocity, e, distance, speed, staying, tau):
    wanted = min(speed, distance / (2.0 * tau)) if staying else speed
    return [wanted * e / tau, -velocity / tau]


def helbing(model, crowd, sees=3):
    def terms(at, p, v, goal, radius, speed, staying, discs):
        e, distance = direction(p, goal)
        out = relaxation(v, e, distance, speed, staying, model.relaxation_time)
        for q, _, other in zip(*discs, strict=True):
            d = np.sqrt((p - q) @ (p - q) + 1e-6)
            n = (p - q) / d
            weight = model.anisotropy + (1.0 - model.anisotropy) * (1.0 - n @ e) / 2.0
            if model.cutoff == 0.0 or d < model.cutoff:
                out.append(model.repulsion * np.exp((radius + other - d) / model.length) * weight * n)
        gap, away = clearance(crowd.maps, crowd.maps.index[at[0]], *p)
        return [*out, model.wall_repulsion * np.exp((radius - gap) / model.wall_length) * away]

    return collect(crowd, sees, terms)


def helbing_simple(model, crowd, sees=3):
    def terms(at, p, v, goal, radius, speed, staying, discs):
        e, distance = direction(p, goal)
        out = relaxation(v, e, distance, speed, staying, 1.0 / model.relaxation)
        for q, _, other in zip(*discs, strict=True):
            d = np.linalg.norm(p - q)
            out.append(model.repulsion * np.exp((radius + other - d) / model.length) * (p - q) / d)
        return out

    return collect(crowd, sees, terms)


def interaction(model, way, relative, as_package=False):
    """Moussaid's force of a neighbour at ``way``; ``as_package`` takes theta as the difference of two angles."""
    d = np.linalg.norm(way)
    e = way / d
    interest = model.importance * relative + e
    size = np.linalg.norm(interest)
    t = interest / size
    theta = np.arctan2(t[0] * e[1] - t[1] * e[0], t @ e)
    if as_package:
        theta = np.arctan2(-e[1], -e[0]) - np.arctan2(-t[1], -t[0])
    b = model.gamma * size
    along = np.exp(-d / b - (model.n_prime * b * theta) ** 2)
    across = np.sign(theta) * np.exp(-d / b - (model.n * b * theta) ** 2)
    return -along * t - across * np.array([-t[1], t[0]])


def pedsim(model, crowd, sees=3):
    def together(at, p, e):
        others = members_of(crowd, *at)
        if len(others) == 0:
            return []
        middle = others.mean(0) - p
        turn = np.arccos(np.clip(middle @ e / np.linalg.norm(middle), -1, 1))
        whole = middle * len(others) / (len(others) + 1)
        out = [-model.gaze_factor * max(turn - model.vision, 0.0) * e]
        if np.linalg.norm(whole) >= len(others) / 2:
            out.append(model.coherence_factor * whole / np.linalg.norm(whole))
        for q in others:
            d = np.linalg.norm(p - q)
            if d <= model.repulsion_distance:
                out.append(model.repulsion_factor * (p - q))
        return out

    def terms(at, p, v, goal, radius, speed, staying, discs):
        e, distance = direction(p, goal)
        out = [model.desired_factor * a for a in relaxation(v, e, distance, speed, staying, model.relaxation_time)]
        for q, u, _ in zip(*discs, strict=True):
            if np.linalg.norm(q - p) < model.cutoff:
                out.append(model.social_factor * interaction(model, q - p, v - u))
        gap, away = clearance(crowd.maps, crowd.maps.index[at[0]], *p)
        out.append(model.obstacle_factor * np.exp((radius - gap) / model.obstacle_sigma) * away)
        return out + together(at, p, e)

    return collect(crowd, sees, terms)


def pysocial(model, crowd, sees=3, as_package=False):
    """PySocial; ``as_package`` with the angles and the coherence distance of PySocialForce 1.1.2."""

    def together(at, p, e, distance):
        others = members_of(crowd, *at)
        if len(others) == 0:
            return []
        middle = others.mean(0) - p
        whole = middle * len(others) / (len(others) + 1)
        softly = (np.tanh((0.0 if as_package else np.linalg.norm(whole)) - len(others) / 2) + 1) / 2
        near = [p - q for q in others if np.linalg.norm(p - q) <= model.repulsion_distance]
        gaze = (middle @ e) / max(distance, model.goal_threshold) * e
        return [model.coherence_factor * softly * whole, *(model.repulsion_factor * a for a in near), model.gaze_factor * gaze]

    def terms(at, p, v, goal, radius, speed, staying, discs):
        e, distance = direction(p, goal)
        wanted = model.speed_factor * speed if distance > model.goal_threshold else 0.0
        out = [model.desired_factor * wanted * e / model.relaxation_time, -model.desired_factor * v / model.relaxation_time]
        out += [model.social_factor * interaction(model, q - p, v - u, as_package) for q, u, _ in zip(*discs, strict=True)]
        gap, away = clearance(crowd.maps, crowd.maps.index[at[0]], *p)
        if gap - radius < model.obstacle_threshold + radius:
            out.append(model.obstacle_factor * np.exp((radius - gap) / model.obstacle_sigma) * away)
        return out + together(at, p, e, distance)

    return collect(crowd, sees, terms)


def touching(model, n, overlap, relative, stable):
    """Terms of Helbing 2000, eqs. 2 and 3, as accelerations: repulsion, compression and sliding friction, at most ``stable``."""
    pressed = max(overlap, 0.0)
    t = np.array([-n[1], n[0]])
    push = model.repulsion * np.exp(overlap / model.length) + model.body * pressed
    rub = min(model.friction * pressed / model.mass, stable)
    return [push / model.mass * n, rub * (relative @ t) * t]


def evacuation(model, crowd, sees=3, dt=0.1):
    def terms(at, p, v, goal, radius, speed, staying, discs):
        e, distance = direction(p, goal)
        out = relaxation(v, e, distance, speed, staying, model.relaxation_time)
        for q, u, other in zip(*discs, strict=True):
            d = np.linalg.norm(p - q)
            out += touching(model, (p - q) / d, radius + other - d, u - v, 0.25 / dt)
        gap, away = clearance(crowd.maps, crowd.maps.index[at[0]], *p)
        return out + touching(model, away, radius - gap, -v, 0.25 / dt)

    return collect(crowd, sees, terms)


def bonding(model, crowd, sees=3):
    def bonds(at, p, *_):
        out = [np.zeros(2)]
        for q in members_of(crowd, *at) if sees & 1 else ():
            d = np.linalg.norm(q - p)
            if model.bond_distance < d < model.bond_reach:
                pull = model.bond_force * (np.exp((d - model.bond_distance) / model.bond_length) - 1.0)
                out.append(min(pull, model.bond_limit) / model.mass * (q - p) / d)
        return out

    parts = zip(evacuation(model, crowd, sees), collect(crowd, sees, bonds), strict=True)
    return tuple(one + other for one, other in parts)


def half_axis(model, r, velocity):
    """Semi-minor axis of the ellipse whose foci are the neighbour and where its step takes it, as Helbing and Molnar write it."""
    step = model.stride * velocity
    return 0.5 * np.sqrt((np.linalg.norm(r) + np.linalg.norm(r - step)) ** 2 - step @ step)


def deep_social_force(model, crowd, sees=3):
    learned, view = model.learned(), np.cos(np.radians(model.field_of_view) / 2)

    def terms(at, p, v, goal, radius, speed, staying, discs):
        e, distance = direction(p, goal)
        out = relaxation(v, e, distance, speed, staying, model.relaxation_time)
        for q, u, _ in zip(*discs, strict=True):
            r, s = p - q, p - q - model.stride * u
            b = half_axis(model, r, u)
            along = r / np.linalg.norm(r) + s / np.linalg.norm(s)
            gradient = (np.linalg.norm(r) + np.linalg.norm(s)) / (4 * b) * along
            weight = 1.0 if -gradient @ e >= view * np.linalg.norm(gradient) else model.behind
            out.append(-weight * float(learned.slope(b)) * gradient)
        gap, away = clearance(crowd.maps, crowd.maps.index[at[0]], *p)
        return [*out, model.wall_potential / model.wall_length * np.exp(-gap / model.wall_length) * away]

    return collect(crowd, sees, terms)


def anticipation(model, crowd, sees=3):
    out, size = np.zeros((*crowd.pedestrians.x.shape, 2)), np.zeros(crowd.pedestrians.x.shape)
    for w in range(len(crowd.maps.index)):
        people = {}
        for (world, i), p, v, goal, radius, speed, staying, _ in pedestrians_of(crowd, sees):
            if world == w:
                e, distance = direction(p, goal)
                wanted = min(speed, distance / (2.0 * model.relaxation_time)) if staying else speed
                gap, away = clearance(crowd.maps, crowd.maps.index[w], *p)
                expected = v + model.intention * (wanted * e - v)
                tight = max(1.0 - gap / model.narrow, 0.0)
                people[i] = p, v, e, radius, wanted, gap, away, expected, tight, int(crowd.traits.group[w, i])
        machines = [
            (np.array([crowd.robots.x[w, r], crowd.robots.y[w, r]], float),
             np.array([crowd.robots.world_vx[w, r], crowd.robots.world_vy[w, r]], float),
             float(crowd.robot_traits.radius[w, r]) + model.robot_margin)
            for r in np.flatnonzero(crowd.robots.active[w])
        ]  # fmt: skip
        for i, (p, v, e, radius, wanted, gap, away, expected, tight, group) in people.items():
            terms, free = [], np.inf
            others = [
                (q, x, r, model.body * r, t, g == group >= 0)
                for j, (q, _, _, r, _, _, _, x, t, g) in people.items()
                if j != i and sees & 1
            ]
            others += [(q, x, r, r, 1.0, False) for q, x, r in machines if sees & 2]
            for q, x, r, body, t, together in others:
                force, room = foreseen(
                    model, q - p, expected - x, e, x, radius + r, model.body * radius + body, t - tight, together, tight * away
                )
                terms += force
                free = min(free, room)
            closing = max(-v @ away - max(gap - radius, 0.0) / model.time_gap, 0.0) / model.relaxation_time
            terms.append((model.wall_repulsion * np.exp((radius - gap) / model.wall_length) + closing) * away)
            pace = min(wanted, max(free, 0.0) / model.time_gap)
            terms += [pace * e / model.relaxation_time, -v / model.relaxation_time]
            total = sum(terms)
            out[w, i] = total * min(model.max_acceleration / np.linalg.norm(total), 1.0)
            size[w, i] = sum(np.linalg.norm(term) for term in terms)
    return out, size


def foreseen(model, offset, relative, e, velocity, reach, body, right, together, wall):
    """Two accelerations by one neighbour, and the free distance to it."""
    d, along = np.linalg.norm(offset), offset @ e
    t = max(offset @ relative / (relative @ relative + 1e-6), 0.0)
    then = offset - t * relative + model.side * np.array([-relative[1], relative[0]]) - max(right, 0.0) * wall
    nearest = np.sqrt(then @ then + 1e-6)
    near = np.clip(1.0 - (nearest - reach) / model.distance, 0.0, 1.0)
    soon = min(5.0 * t, 1.0) * max(1.0 - t / model.horizon, 0.0)
    view = model.behind + (1.0 - model.behind) * (1.0 + along / d) / 2.0
    avoid = 0.0 if together else model.avoidance * near * soon * view
    touch = model.push * max(reach / d - 1.0, 0.0)
    back = touch * along * (1.0 - model.back - max(right, 0.0)) * e
    against = np.clip(-velocity @ e, 0.0, 1.0)
    aside = max(d**2 - along**2, 0.0)
    room = np.sqrt(along**2 + model.breadth**2 * aside) - body - model.wait * max(right, 0.0) * against
    force = [-(1.0 + right) * avoid * then / nearest, -(1.0 + right) * touch * offset, back]
    return force, room if along > 0.0 else np.inf
