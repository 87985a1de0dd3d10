"""Trajectory roll-out once more: plain, slow, float64; one step, with what the robot remembers."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
from tests.planners.local.dwa.twin import cell_at, line, local_targets, under_footprint, wavefront

HIT, NO_WAY = -1.0, -2.0


class Twin:
    """One robot's step."""

    def __init__(self, planner, *, pose, twist, limits, dt, path, costmap, corners):
        self.planner, self.pose, self.twist, self.costmap, self.corners = planner, pose, twist, costmap, corners
        cost, origin, cell = costmap
        targets = local_targets(SimpleNamespace(prune_plan=planner.prune_plan, forward_point_distance=0.0), pose, path, costmap)
        self.has_path = targets is not None
        if not self.has_path:
            return
        stretch, goal, _, self.away = targets
        c, s = math.cos(pose[2]), math.sin(pose[2])
        places = [cell_at((pose[0] + c * a - s * b, pose[1] + s * a + c * b), origin, cell, cost) for a, b in corners]
        outline = [p for k in range(len(places)) for p in line(places[k - 1], places[k])]
        opened = cost.copy()
        for row in {r for r, _ in outline}:
            across = [q for r, q in outline if r == row]
            under = opened[row, min(across) : max(across) + 1]
            under[under >= 253] = 0
        self.to_path, self.to_goal = wavefront(opened, list(dict.fromkeys(stretch))), wavefront(cost, [goal])
        self.acceleration = np.minimum((planner.acc_lim_x, planner.acc_lim_y, planner.acc_lim_theta), limits["acceleration"])
        self.limits, self.horizon = limits, dt if planner.dwa else planner.sim_time

    def roll(self, sample):
        p = self.planner
        count = max(
            math.floor(
                max(math.hypot(*sample[:2]) * p.sim_time / p.sim_granularity, abs(sample[2]) / p.angular_sim_granularity) + 0.5
            ),
            1,
        )
        dt, now, place, poses = p.sim_time / count, np.array(self.twist, float), np.array(self.pose, float), []
        for _ in range(count):
            poses.append(tuple(place))
            now = np.clip(sample, now - self.acceleration * dt, now + self.acceleration * dt)
            c, s = math.cos(place[2]), math.sin(place[2])
            place = place + np.array((c * now[0] - s * now[1], s * now[0] + c * now[1], now[2])) * dt
        return poses

    def score(self, sample):
        """Score, and distance of the nose at the end from the local goal (None off the window)."""
        cost, origin, cell = self.costmap
        scale = cell if self.planner.meter_scoring else 1.0
        worst, poses = 0.0, self.roll(sample)
        for pose in poses:
            place = cell_at(pose[:2], origin, cell, cost)
            under = None if place is None else under_footprint(cost, origin, cell, self.corners, pose)
            if under is None:
                return HIT, None
            worst = max(worst, under)
            if self.to_path[place] >= cost.size or self.to_goal[place] >= cost.size:
                return NO_WAY, None
        x, y, heading = poses[-1]
        ahead = self.planner.heading_lookahead
        nose = cell_at((x + ahead * math.cos(heading), y + ahead * math.sin(heading)), origin, cell, cost)
        score = (
            scale * self.planner.path_distance_bias * self.to_path[place]
            + scale * self.planner.goal_distance_bias * self.to_goal[place]
        )
        return score + self.planner.occdist_scale * worst, None if nose is None else self.to_goal[nose]

    def best(self, *, escaping=False, only=(False, False), only_strafe=(False, False)):
        """The twist; and its score, or None where it backs up or stands."""
        p, m = self.planner, self.limits
        if not self.has_path:
            return (0.0, 0.0, 0.0), None
        low = max(p.min_vel_x, m["min_vx"])
        most_theta = min(p.max_vel_theta, m["max_omega"])
        reach = self.acceleration * self.horizon
        high = max(min(p.max_vel_x, m["max_vx"], self.away / p.sim_time, self.twist[0] + reach[0]), low)
        low = max(low, self.twist[0] - reach[0])
        right, left = max(-most_theta, self.twist[2] - reach[2]), min(most_theta, self.twist[2] + reach[2])
        speeds = np.linspace(low, high, p.vx_samples).tolist()
        rates = np.linspace(right, left, p.vtheta_samples).tolist()
        curves = [] if escaping else [(v, 0.0, w) for v in speeds for w in (0.0, *rates[:-1])]
        if m["max_vy"] >= 0.1 and not escaping:
            curves += [(0.1, 0.1, 0.0), (0.1, -0.1, 0.0)]
        best, chosen = None, None
        for sample in curves:
            if abs(sample[2]) * m["turning_radius"] > abs(sample[0]) + 1e-4:
                continue
            score, _ = self.score(sample)
            if score >= 0 and (best is None or score < best):
                best, chosen = score, sample
        nearest = math.inf
        for rate in rates if m["turning_radius"] == 0 else ():
            slowest = min(p.min_in_place_vel_theta, most_theta)
            sample = (0.0, 0.0, max(rate, slowest) if rate > 0 else min(rate, -slowest))
            score, nose = self.score(sample)
            better = score >= 0 and (best is None or score <= best or chosen[1] != 0)
            barred = only[1] if rate < 0 else only[0]
            if (
                better
                and abs(rate) > (left - right) / (p.vtheta_samples - 1)
                and nose is not None
                and nose < nearest
                and not barred
            ):
                best, chosen, nearest = score, sample, nose
        if best is None and m["max_vy"] > 0:
            for speed in p.y_vels:
                sample = (0.0, min(max(speed, -m["max_vy"]), m["max_vy"]), 0.0)
                score, nose = self.score(sample)
                barred = only_strafe[0] if speed > 0 else only_strafe[1]
                if score >= 0 and (best is None or score <= best) and nose is not None and nose < nearest and not barred:
                    best, chosen, nearest = score, sample, nose
        if best is not None:
            return chosen, best
        back = (max(p.escape_vel, m["min_vx"]), 0.0, 0.0)
        return (back if self.score(back)[0] > NO_WAY else (0.0, 0.0, 0.0)), None
