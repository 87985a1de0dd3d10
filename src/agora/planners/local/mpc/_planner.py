"""Model predictive control as a local planner.

C. Rösmann, A. Makarow and T. Bertram, "Online motion planning based on nonlinear model predictive control with non-Euclidean
rotation groups", ECC 2021; objectives, constraints, defaults and parameter names are taken from the mpc_local_planner package
(5b4e465). Over a horizon of equal steps, the planner minimises the cost of the poses (`agora.planners.local.mpc._problem`), subject
to bounds on the commands and on their rates of change, and to a minimum distance to obstacles. The plan starts from the last
command and ends at a standstill. The first command is driven.

- ``quadratic_form``: squared deviations of all poses from the local goal, and squared commands; the duration of a step is fixed.
- ``minimum_time``: the time to the local goal, which the last pose must reach; the duration of a step is free, and determines the
  number of steps.
- ``minimum_time_via_points``: the time as in ``minimum_time``, plus squared distances to points of the path.

Differences from the source:
- Distances to obstacles are soft constraints: each pose has a slack variable, and each metre of slack costs ``slack_weight``. A
  solution always exists, the same as with hard constraints as long as the weight exceeds the gain per metre of violation.
- Pedestrians and other robots are discs, and a predictor gives their positions at the time of each pose; by default their motion is
  taken into account (in upstream, this has to be enabled). Walls are represented by points on the edges of lethal or unknown areas
  in the costmap; in upstream, every lethal cell is a point. Each pose considers at most ``obstacles`` obstacles: the nearest on the
  left, the nearest on the right, the nearest disc, then the next nearest ones; points on walls are 0.15 m apart.
- Left and right are relative to the pose; upstream's test uses the cross product with the obstacle's position in the map frame.
- ``max_vel_x`` and other limits that are None default to the robot's limits. Poses are 0.12 m apart at full speed, which
  corresponds to the package's 0.3 s at its 0.4 m/s. With larger spacing, a plan cuts corners; if such a plan starts with a wait,
  the robot waits at every call and never moves. The horizon is 1.5 times the robot's stopping time. The package's own limits and
  times are in the `mpc_ros` preset.
- If the duration of a step is free, a plan has 7 to 25 poses; upstream has 2 to 50, but 2 only reach a pose straight ahead.
- The footprint can be the centre, the circumscribed disc or the outline's rectangle; the package offers lines and polygons.
- The solver is fatrop; the package uses IPOPT. If the solver does not converge within its iterations, or the plan would hit
  something before the robot can stop, the robot drives the rest of the last plan while that is free of collisions, and otherwise
  brakes as hard as it can. The package stops the robot at once.
- If the initial guess backs up, its headings point against the direction of motion; upstream intends this, but does not keep these
  headings. If the duration of a step is free, the guess has as many steps as driving the route at full speed takes. If a guess hits
  an obstacle, which the solver rarely recovers from, two further guesses bend around the obstacle, one on either side, and the plan
  with the lowest cost is used. If the solver finds no plan, it starts again from a guess in which the robot stands still.
- The previous plan is shifted in time; upstream continues from the nearest pose of the previous plan.
- Orientations of via points are ignored; in upstream they have no weight by default, and the wrong sign if a weight is given.
- If an obstacle covers the end of the local path, the path ends earlier, at the desired distance from obstacles. With the quadratic
  form, it also ends at a wall between the robot and its end. Without a goal heading, its last direction is the target heading.
- Commands for car-like robots contain the curvature instead of the turning rate; those for holonomic robots add the sideways speed.
- A robot that touches a wall stops. No disc may penetrate the robot more deeply than it already does, so that a robot in contact
  with a person can move away.
- If nothing nearby moves, the steps in which a plan waits at its start are removed. The first command keeps the limits of a control
  period, later commands those of a step. Otherwise a robot next to a corner would plan, at every call, to wait for a sharper turn.

Not implemented: several plans in parallel, other footprints, full weight matrices, terminal sets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Literal

import numpy as np

from agora.core.angles import wrap_below_pi
from agora.core.recording import Reason
from agora.core.state import Array
from agora.costmap.window import Window
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.planners._expected import Discs, discs, needs_of
from agora.planners._limits import own
from agora.planners.local.mpc._checks import is_free, points_to_plan
from agora.planners.local.mpc._plan import Plan, bend_route, initial_plan, is_clear, nearest_turn, standing_plan, via_points
from agora.planners.local.mpc._problem import Bounds, Form, problem
from agora.planners.local.mpc._robot import Robot, bodies_of, brake, clip_command
from agora.planners.local.mpc._scene import MOMENT, Things, discs_of, local_path, obstacles_of, on_wall, to_map, to_robot, walls
from agora.ranges import Checked, Count, Deviation, Distance, Length, NotNegative, Period, Positive, Speed, TopSpeed, Within
from agora.registry import Named, Plug

_DT_REF, _STRIDE, _STOPS = 0.3, 0.12, 1.5  # s, m, horizon in multiples of the robot's stopping time
_MOMENTS = 20
_MARGIN = 0.85
_SLOW = 0.05  # m/s
_CREEPS, _LEAST = 1e-3, 1e-3
_STRANGE = 0.05  # m/s and rad/s

_TUNABLE: dict[str, Span] = {
    "max_vel_x": Span(0.2, 2.0),
    "max_vel_x_backwards": Span(0.05, 0.5),
    "max_vel_theta": Span(0.2, 3.0),
    "max_global_plan_lookahead_dist": Span(0.8, 4.0),
    "min_obstacle_dist": Span(0.02, 0.5),
    "min_disc_dist": Span(0.05, 1.0),
    "slack_weight": Span(10.0, 10_000.0, log=True),
}

Three = tuple[NotNegative, NotNegative, NotNegative]


@dataclass(frozen=True)
class Mpc(Checked):
    """Plans commands for the next few seconds that bring the robot to its local goal at the lowest cost, and drives the first
    command.

    The limits apply in addition to the robot's own; None means that only the robot's limit applies.

    Attributes:
        window: local costmap; pedestrians and robots are represented by discs and need not be in the costmap.
        prediction: predictor of the pedestrians' paths.
        objective: cost function: "quadratic_form", "minimum_time" or "minimum_time_via_points".
        footprint_model: shape used to measure distances: the robot's centre ("point"), the circumscribed disc ("circular"), or the
            rectangle around its outline ("rectangle"; a disc for a disc-shaped robot).
        max_vel_x: maximum forward speed, m/s.
        max_vel_x_backwards: maximum backward speed, m/s, positive; because the robot backs up blindly, this is a choice of the user
            and does not default to the robot's limit.
        max_vel_y: maximum sideways speed of a holonomic robot, m/s.
        max_vel_theta: maximum turning rate, rad/s.
        acc_lim_x: acceleration limit, m/s2.
        dec_lim_x: deceleration limit, m/s2.
        acc_lim_theta: angular acceleration limit, rad/s2.
        min_turning_radius: turning radius of car-like robots, m; 0 for robots that turn in place.
        grid_size_ref: number of poses in a plan.
        dt_ref: time between poses, s; None for 0.3 s, or less if the robot covers more than 0.12 m in that time, but long enough
            for the horizon to be 1.5 times the robot's stopping time.
        dt_hyst_ratio: relative deviation of the duration of a step from ``dt_ref`` above which a step is added or removed.
        min_grid_size: minimum number of poses if the duration of a step is free.
        max_grid_size: maximum number of poses if the duration of a step is free.
        min_dt: minimum duration of a step, if it is free, s.
        max_dt: maximum duration of a step, if it is free, s.
        collocation_method: how the poses at both ends of a step determine the motion during the step.
        state_weights: weights of the squared deviations in x, y and heading, for the quadratic form.
        control_weights: weights of the squared speed and turning rate, for the quadratic form; the sideways speed has the same
            weight as the speed.
        final_state_weights: weights of the squared deviations of the last pose, for the quadratic form.
        position_weight: weight of the squared distance to a via point, s/m2.
        global_plan_viapoint_sep: distance between via points on the path, m.
        max_global_plan_lookahead_dist: length of the path to plan for, m; the window also limits it.
        force_reinit_new_goal_dist: jump of the local goal above which the plan is reset, m.
        force_reinit_new_goal_angular: rotation of the local goal above which the plan is reset, rad.
        allow_init_with_backward_motion: whether the initial guess backs up if the goal is behind the robot.
        min_obstacle_dist: desired distance to walls, m.
        min_disc_dist: desired distance to pedestrians and other robots, m; None for the same distance as to walls.
        enable_dynamic_obstacles: whether discs are predicted to move; otherwise they are treated as stationary.
        force_inclusion_dist: distance within which all obstacles are considered for a pose, m.
        cutoff_dist: distance within which the nearest obstacle on each side is considered, m.
        costmap_obstacles_behind_robot_dist: distance behind the robot beyond which walls are ignored, m.
        obstacles: maximum number of obstacles per pose.
        slack_weight: cost per metre by which a pose falls short of the desired distance to an obstacle.
        outer_ocp_iterations: maximum number of times that a plan is recomputed for the obstacles near its new poses; None for 1
            with the quadratic form, and for 5 if the duration of a step is free.
        iterations: maximum number of solver iterations.
        tol: tolerance of the solver.
        collision_check_no_poses: number of poses that are checked against walls; None for the poses up to the time by which the
            robot can stop.
        xy_goal_tolerance: distance to the goal within which the robot stops, m, unless the task requires less.
        yaw_goal_tolerance: deviation from the goal's heading within which the robot stops, rad, unless the task requires less.
    """

    window: Window = field(default_factory=lambda: Window(sources=("map",)))
    prediction: Annotated[Named, Plug("predictors")] = field(default_factory=lambda: Named.of("predictors", "constant_velocity"))
    objective: Literal["quadratic_form", "minimum_time", "minimum_time_via_points"] = "quadratic_form"
    footprint_model: Literal["point", "circular", "rectangle"] = "rectangle"
    max_vel_x: TopSpeed | None = None
    max_vel_x_backwards: Speed = 0.2
    max_vel_y: Speed | None = None
    max_vel_theta: Annotated[float, Within(0.0, 100.0, above=True)] | None = None
    acc_lim_x: Positive | None = None
    dec_lim_x: Positive | None = None
    acc_lim_theta: Positive | None = None
    min_turning_radius: Distance = 0.0
    grid_size_ref: Annotated[int, Within(3, 200)] = 20
    dt_ref: Period | None = None
    dt_hyst_ratio: Annotated[float, Within(0.0, 0.9)] = 0.1
    min_grid_size: Annotated[int, Within(2, 200)] = 7
    max_grid_size: Annotated[int, Within(3, 200)] = 25
    min_dt: Period = 0.01
    max_dt: Period = 10.0
    collocation_method: Literal["forward_differences", "midpoint_differences", "crank_nicolson_differences"] = "forward_differences"
    state_weights: Three = (2.0, 2.0, 0.25)
    control_weights: tuple[NotNegative, NotNegative] = (0.1, 0.05)
    final_state_weights: Three = (10.0, 10.0, 0.5)
    position_weight: NotNegative = 1.0
    global_plan_viapoint_sep: Length = 0.5
    max_global_plan_lookahead_dist: Length = 1.5
    force_reinit_new_goal_dist: Distance = 1.0
    force_reinit_new_goal_angular: NotNegative = 0.5 * math.pi
    allow_init_with_backward_motion: bool = True
    min_obstacle_dist: Distance = 0.1
    min_disc_dist: Distance | None = 0.3
    enable_dynamic_obstacles: bool = True
    force_inclusion_dist: Distance = 0.5
    cutoff_dist: Distance = 2.5
    costmap_obstacles_behind_robot_dist: Distance = 1.5
    obstacles: Annotated[int, Within(3, 32)] = 8
    slack_weight: Positive = 1000.0
    outer_ocp_iterations: Annotated[int, Within(1, 100)] | None = None
    iterations: Count = 100
    tol: Positive = 1e-4
    collision_check_no_poses: Annotated[int, Within(1, 10_000)] | None = None
    xy_goal_tolerance: Distance = 0.2
    yaw_goal_tolerance: Deviation = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.min_grid_size < self.max_grid_size:
            raise InputError(f"min_grid_size: must be less than max_grid_size, {self.max_grid_size}, is {self.min_grid_size}")
        if not self.min_dt < self.max_dt:
            raise InputError(f"min_dt: must be less than max_dt, {self.max_dt}, is {self.min_dt}")

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=needs_of(self.prediction.part, ("path", self.window, "pedestrians", "robots")),
            label="faithful",
            tunable=_TUNABLE,
            notes=("reason",),
            turns_at_goal=True,
            top_speed=float(own(self.max_vel_x)),
            requires=("mpc", *self.prediction.part.declares.requires),
        )

    @property
    def free_time(self) -> bool:
        """True if the duration of a step is free."""
        return self.objective != "quadratic_form"

    @property
    def steps(self) -> int:
        """Maximum number of steps in the problem."""
        return (self.max_grid_size if self.free_time else self.grid_size_ref) - 1

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3); the memory, i.e. plans, last commands, goals and progress along the path; and the reasons why
        robots stop.
        """
        o, rows = observation, len(observation.pose)
        recall = self._copy_memory(memory, rows)
        known, predicted = discs(self.prediction.part, o, _MOMENTS, MOMENT, memory.get("prediction", {}))
        twists, reasons = np.zeros((rows, 3), np.float32), np.zeros(rows, np.int8)
        for row in range(rows):
            commands, reasons[row] = self._row(o, row, known, recall)
            twists[row] = commands[[0, 2, 1]]
        return Answer(twists, {**recall, "prediction": predicted}, {"reason": reasons})

    def _copy_memory(self, memory: Memory, rows: int) -> Memory:
        """Return a copy of the memory; zeros at the start of an episode."""
        if memory:
            return {name: array.copy() for name, array in memory.items() if name != "prediction"}
        plan = dict(poses=(self.steps + 1, 3), commands=(self.steps, 3), grid=(2,))
        shapes = plan | dict(command=(4,), goal=(3,), path=(4,))
        return {name: np.zeros((rows, *shape)) for name, shape in shapes.items()}

    def _row(self, o: Observation, row: int, known: Discs, recall: Memory) -> tuple[Array, Reason]:
        """Return the command of one robot (forward, turning, sideways) and the reason why it stops."""
        robot = self._robot(o, row, recall["command"][row])
        plan, command, reason = None, brake(robot, robot.fall, o.dt), Reason.NONE
        assert o.path is not None and o.path_count is not None
        if o.path.shape[1] == 0 or o.path_count[row] <= 0:
            command, reason = np.zeros(3), Reason.NO_PATH
        elif robot.most[1, 0] > _LEAST and robot.most[1, 1] > _LEAST and not self._has_arrived(o, row):
            plan, reason = self._make_plan(o, row, robot, known, recall)
            if plan is not None:
                command = clip_command(plan.commands[0], robot, o.dt)
                if reason is Reason.NONE and np.abs(command).max() < _CREEPS:
                    reason = Reason.BLOCKED
            else:
                command = brake(robot, robot.hard, o.dt)
        recall["command"][row] = (*command, 1.0)
        recall["grid"][row] = 0.0
        if plan is not None:
            n = len(plan.commands)
            recall["grid"][row] = n, plan.dt
            recall["poses"][row, : n + 1], recall["commands"][row, :n] = to_map(plan.poses, robot.pose), plan.commands
        return command, reason

    def _has_arrived(self, o: Observation, row: int) -> bool:
        """Return whether the robot has reached its goal."""
        near = self.xy_goal_tolerance if o.goal_tolerance is None else min(self.xy_goal_tolerance, float(o.goal_tolerance[row]))
        off = o.goal[row].astype(np.float64) - o.pose[row]
        return math.hypot(off[0], off[1]) < near and abs(wrap_below_pi(off[2])) <= self._tolerance(o, row)

    def _tolerance(self, o: Observation, row: int) -> float:
        """Return the allowed deviation from the goal heading; pi if the task has no goal heading."""
        asked = self.yaw_goal_tolerance if o.heading_tolerance is None else float(o.heading_tolerance[row])
        return min(self.yaw_goal_tolerance, asked) if asked < math.pi else math.pi

    def _robot(self, o: Observation, row: int, command: Array) -> Robot:
        """Return the current state of the robot in one row."""
        m = o.limits
        holonomic = bool(m.holonomic[row]) and m.max_vy[row] > 0
        radius = max(self.min_turning_radius, float(m.turning_radius[row]))
        ahead = min(float(m.max_vx[row]), float(own(self.max_vel_x)))
        back = max(float(m.min_vx[row]), -self.max_vel_x_backwards)
        turn = min(float(m.max_omega[row]), float(own(self.max_vel_theta)))
        aside = min(float(m.max_vy[row]), float(own(self.max_vel_y))) if holonomic else 0.0
        hard = np.array([m.max_ax[row], m.max_alpha[row], m.max_ay[row]], np.float64)
        growth = np.minimum(hard, [float(own(limit)) for limit in (self.acc_lim_x, self.acc_lim_theta, self.acc_lim_x)])
        most = np.array([[min(back, ahead), -turn, -aside], [ahead, turn, aside]])
        twist = o.twist[row, [0, 2, 1]].astype(np.float64)
        driven = command[3] > 0 and bool((np.abs(twist - command[:3]) < hard * o.dt + _STRANGE).all())
        last = np.clip(command[:3] if driven else twist, most[0], most[1])
        outline = self.window.corners(o.footprint[row : row + 1], o.radius[row : row + 1])[0].astype(np.float64)
        is_disc = not self.window.footprint and not o.footprint[row].any()
        shapes = bodies_of(outline, float(o.radius[row]), is_disc)
        bodies = shapes[self.footprint_model], shapes["rectangle"]
        fall = np.array([min(hard[0], float(own(self.dec_lim_x))), growth[1], growth[2]])
        pose = o.pose[row].astype(np.float64)
        return Robot(pose, last, most, growth, fall, hard, radius, holonomic, *bodies, outline)

    def _step(self, robot: Robot) -> float:
        """Return the time between poses, s."""
        fast, stop = robot.most[1, 0], robot.most[1, 0] / robot.fall[0]
        return self.dt_ref or float(min(_DT_REF, max(_STRIDE / fast, _STOPS * stop / (self.grid_size_ref - 1))))

    def _make_plan(self, o: Observation, row: int, robot: Robot, known: Discs, recall: Memory) -> tuple[Plan | None, Reason]:
        """Return the plan to drive, or None if the robot should brake, and the reason for any unusual behaviour."""
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        count = int(o.path_count[row])
        half = 0.5 * o.costmap.resolution * min(o.costmap.cost.shape[1:])
        reach = self.max_global_plan_lookahead_dist + self.cutoff_dist
        points = walls(o.costmap, row, robot.pose, reach, self.costmap_obstacles_behind_robot_dist)
        places, radii = discs_of(known, row, robot.pose, self.enable_dynamic_obstacles)
        near = np.hypot(places[..., 0], places[..., 1]).min(axis=1) < 2.0 * reach
        things = Things(points, places[near], np.concatenate((np.zeros(len(points)), radii[near])))
        if on_wall(o.costmap, row, robot.pose[None], robot.outline)[0]:
            return None, Reason.START_IN_CONTACT

        path, mark = to_robot(o.path[row, :count].astype(np.float64), robot.pose), recall["path"][row]
        if tuple(mark[:3]) != (*o.path[row, 0], count):
            mark[:] = *o.path[row, 0], count, 0
        leg, route, ends, direction = local_path(path, int(mark[3]), self.max_global_plan_lookahead_dist, _MARGIN * half)
        mark[3] = leg
        if len(route) < 2:
            return None, Reason.NO_PATH
        count = points_to_plan(o.costmap, row, robot, route, ends, things, self._distances(things), not self.free_time)
        if count < len(route):
            if count < 2:
                return None, Reason.BLOCKED
            direction = float(np.arctan2(*(route[count] - route[count - 1])[::-1]))
            route, ends = route[:count], False
        if ends and self._tolerance(o, row) < math.pi:
            direction = float(o.goal[row, 2]) - robot.pose[2]
        goal = np.array([*route[-1], wrap_below_pi(direction)])

        old = self._previous_plan(o, robot, recall, row, goal)
        recall["goal"][row] = to_map(goal, robot.pose)
        plan, converged = self._solve(o.dt, robot, route, goal, things, old)
        checked = o.dt, self.collision_check_no_poses
        for made in (plan.skip_slow_start(_CREEPS), plan) if things.still.all() else (plan,):
            if converged and is_free(o.costmap, row, robot, made, things, *checked):
                return made, Reason.NONE
        reason = Reason.BLOCKED if converged else Reason.NOT_CONVERGED
        if old is not None and is_free(o.costmap, row, robot, old, things, *checked):
            return old, Reason.NONE if converged else reason
        return None, reason

    def _distances(self, things: Things) -> Array:
        """Return the desired distances (P + M,) to obstacles."""
        disc = self.min_obstacle_dist if self.min_disc_dist is None else self.min_disc_dist
        return np.where(np.arange(len(things.radius)) < len(things.walls), self.min_obstacle_dist, disc)

    def _previous_plan(self, o: Observation, robot: Robot, recall: Memory, row: int, goal: Array) -> Plan | None:
        """Return the rest of the previous plan, or None if the goal has changed."""
        n, dt = int(recall["grid"][row, 0]), float(recall["grid"][row, 1])
        before = to_robot(recall["goal"][row], robot.pose)
        jump, turn = math.hypot(*(goal - before)[:2]), abs(wrap_below_pi(goal[2] - before[2]))
        if n == 0 or jump > self.force_reinit_new_goal_dist or turn > self.force_reinit_new_goal_angular:
            return None
        whole = Plan(to_robot(recall["poses"][row, : n + 1], robot.pose), recall["commands"][row, :n], dt)
        left = max((n * dt - o.dt) / n, self.min_dt) if self.free_time else dt
        return nearest_turn(whole.resample(o.dt, n, left))

    def _solve(self, dt: float, robot: Robot, route: Array, goal: Array, things: Things, old: Plan | None) -> tuple[Plan, bool]:
        """Return the best plan, and whether the solver converged."""
        step, steps, most = self._step(robot), self.steps, robot.most
        if self.free_time:
            long = float(np.hypot(*np.diff(route, axis=0).T).sum())
            needed = long / most[1, 0] + most[1, 0] / robot.fall[0] + abs(goal[2]) / most[1, 1]
            steps = int(np.clip(round(needed / step), self.min_grid_size - 1, self.steps))
        backwards = self.allow_init_with_backward_motion and most[0, 0] < 0
        afresh = initial_plan(route, goal[2], steps, step, backwards, most)
        guesses = [afresh] if old is None else [old, afresh] if np.abs(robot.last).max() < _SLOW else [old]
        if not is_clear(guesses[0], things, robot.body):
            sides = (bend_route(route, steps * step, things, robot.body, side) for side in (1.0, -1.0))
            guesses += [initial_plan(way, goal[2], steps, step, False, most) for way in sides if way is not None]
        best = guesses[0], math.inf
        for guess in guesses:
            plan, cost = self._converge(dt, robot, route, goal, things, guess)
            best = (plan, cost) if cost < best[1] else best
        if best[1] == math.inf:
            best = self._converge(dt, robot, route, goal, things, standing_plan(steps, step))
        return best[0], best[1] < math.inf

    def _converge(self, dt: float, robot: Robot, route: Array, goal: Array, things: Things, guess: Plan) -> tuple[Plan, float]:
        """Iterate from a guess until the plan no longer changes; return the best plan and its cost, which is infinite if there is
        no plan.
        """
        end, cost, step = guess.poses[-1, 2], math.inf, self._step(robot)
        goal = np.array([goal[0], goal[1], end + wrap_below_pi(goal[2] - end)])
        for _ in range(self.outer_ocp_iterations or (5 if self.free_time else 1)):
            before = guess
            guess = guess.adapt_steps(step, self.dt_hyst_ratio, self.min_grid_size - 1, self.steps) if self.free_time else guess
            guess, cost = self._optimum(dt, robot, route, goal, things, guess)
            if cost == math.inf or (self.free_time and guess.is_like(before)):
                break
        return guess, cost

    def _optimum(self, dt: float, robot: Robot, route: Array, goal: Array, things: Things, guess: Plan) -> tuple[Plan, float]:
        """Return the best plan for the obstacles near the poses of a guess, and its cost, which is infinite if the solver does not
        converge.
        """
        kind: Literal["unicycle", "car", "holonomic"] = (
            "car" if robot.turning_radius > 0 else "holonomic" if robot.holonomic else "unicycle"
        )
        form = Form(self.steps, self.obstacles, kind, self.collocation_method, self.free_time)
        n, axes, stages = len(guess.commands), form.axes, np.arange(self.steps + 1)
        poses = np.concatenate((guess.poses, np.repeat(guess.poses[-1:], self.steps - n, axis=0)))
        commands = np.concatenate((guess.commands, np.zeros((self.steps - n, 3))))
        states = np.column_stack((poses, np.concatenate((robot.last[None], commands[:-1], np.zeros((1, 3))))[:, :axes]))
        states[0, :3] = 0.0
        states = np.column_stack((states, np.full(len(states), guess.dt))) if self.free_time else states
        bounds, first = robot.most[:, :axes].copy(), commands[:, :axes].copy()
        if kind == "car":
            bounds[:, 1] = -1.0 / robot.turning_radius, 1.0 / robot.turning_radius
            first[:, 1] = np.clip(commands[:, 1] / np.where(np.abs(commands[:, 0]) > _SLOW, commands[:, 0], np.inf), *bounds[:, 1])
        body, via = robot.model, np.zeros((3, self.steps + 1))
        if self.objective == "minimum_time_via_points":
            via[:, : n + 1] = via_points(route, self.global_plan_viapoint_sep, guess.poses, self.position_weight)
        ending, running = (np.array(weights)[:, None] for weights in (self.final_state_weights, self.state_weights))
        speed, turn = self.control_weights
        parameters = {
            "active": stages < n,
            "first": stages == 0,
            "period": dt,
            "index": stages,
            "dt": guess.dt,
            "goal": goal,
            "state_weight": np.zeros(3) if self.free_time else np.where(stages == self.steps, ending, running),
            "control_weight": np.zeros(3) if self.free_time else (speed, turn, speed),
            "time_weight": self.free_time,
            "via": via,
            "rate": robot.growth,
            "braking": robot.fall[0],
            "slack_weight": self.slack_weight,
            "body": body[:4],
        }
        reach = self.force_inclusion_dist, self.cutoff_dist, self.obstacles
        obstacles = obstacles_of(things, self._distances(things), poses[1 : n + 1], guess.dt, body, *reach, self.free_time)
        solver = problem(form, self.iterations, self.tol)
        limits = Bounds(bounds, float(robot.most[1, 1 if kind == "car" else 0]), (self.min_dt, self.max_dt))
        found = solver.solve(np.array([0.0, 0.0, 0.0, *robot.last[:axes]]), (states, first), parameters, obstacles, limits)
        made = np.zeros((n, 3))
        made[:, :axes] = found.commands[:n]
        made[:, 1] *= made[:, 0] if kind == "car" else 1.0
        step = float(found.states[0, -1]) if self.free_time else guess.dt
        return Plan(found.states[: n + 1, :3], made, step), found.cost if found.converged else math.inf
