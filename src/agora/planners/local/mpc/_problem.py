"""The optimal control problem of the model predictive planner, solved by fatrop through CasADi.

Direct transcription: poses at equal times, with piecewise constant commands. Every pose is a stage of the problem: its state is the
pose, the previous command and, if the time is free, the duration of a step; its controls are the command and a slack variable. This
makes the matrices banded, which fatrop (L. Vanroye, A. Sathya, J. De Schutter and W. Decré, "FATROP: a fast constrained optimal
control problem solver for robot trajectory optimization and control", IROS 2023) exploits.

All numerical settings of a planner are parameters of the problem; `Form` contains the settings that change its structure. If there
is a C compiler, a problem's functions are compiled once and stored next to the kernels, under a name derived from the form, this
file and CasADi's version. Without a compiler, CasADi's own virtual machine evaluates them, with bit-identical results.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numba
import numpy as np
from numpy.typing import ArrayLike

from agora.core import jit  # noqa: F401 - sets the folder of the kernels
from agora.core.compiling import record_compiling
from agora.core.sealed import seal, unseal
from agora.core.state import Array
from agora.planners.local.mpc._scene import AWAY

LAYOUT = {
    **dict.fromkeys(("active", "first", "period", "index", "dt"), 1),
    **dict.fromkeys(("goal", "state_weight", "control_weight", "via", "rate"), 3),
    **dict.fromkeys(("time_weight", "slack_weight", "braking"), 1),
    "body": 4,
}
"""Parameters of a stage and their sizes, before the obstacles' (x, y, distance; then vx, vy if time is free).

``active`` is 0 in stages after the last, in which nothing moves; ``first`` is 1 in the first, whose command follows the last
command after ``period``; ``index`` is the number of the stage; ``dt`` the fixed step; ``via`` a position and its weight; ``rate``
and ``braking`` the largest increases of forward speed, turning rate and sideways speed, and the largest decrease of forward speed,
in 1 s; ``body`` the centre and half the sides of the rectangle to which distances are measured.
"""

_FLAGS = ("-O1", "-fPIC", "-shared", "-ffp-contract=off")  # contraction would change the last bits
_SOFT = 1e-6  # m2, added under the square root of a distance
_FOLDER = "mpc"


class Form(NamedTuple):
    """The form of a problem: the settings that change its structure.

    Attributes:
        steps: maximum number of steps.
        obstacles: number of obstacles per pose.
        kind: kind of robot, which determines the components of a command: forward speed and turning rate; forward speed and
            curvature; or forward speed, turning rate and sideways speed.
        collocation: how the poses at both ends of a step determine the motion during the step.
        free_time: whether the duration of a step is free and the last pose is fixed.
    """

    steps: int
    obstacles: int
    kind: Literal["unicycle", "car", "holonomic"]
    collocation: Literal["forward_differences", "midpoint_differences", "crank_nicolson_differences"]
    free_time: bool

    @property
    def axes(self) -> int:
        """Number of components in a command."""
        return 3 if self.kind == "holonomic" else 2

    @property
    def states(self) -> int:
        """Number of components of a state: the pose, the previous command and, if it is free, the duration of a step."""
        return 3 + self.axes + self.free_time

    @property
    def parameters(self) -> int:
        """Number of parameters per stage."""
        return sum(LAYOUT.values()) + self.obstacles * (5 if self.free_time else 3)


class Bounds(NamedTuple):
    """Bounds of a problem.

    Attributes:
        command: (2, axes) minimum and maximum command.
        most: maximum turning rate of a car, rad/s, or maximum speed in any direction of a holonomic robot, m/s.
        dt: minimum and maximum duration of a step, if it is free, s.
    """

    command: Array
    most: float
    dt: tuple[float, float]


class Solution(NamedTuple):
    """The result of the solver.

    Attributes:
        states: (steps + 1, states) states.
        commands: (steps, axes) commands.
        slack: (steps,) amount by which the pose at the end of each step falls short of the desired distance to obstacles, m.
        cost: total cost.
        iterations: number of iterations.
        converged: whether the solver converged.
    """

    states: Array
    commands: Array
    slack: Array
    cost: float
    iterations: int
    converged: bool


class Problem:
    """A problem that can be solved for any parameters; not thread-safe.

    Args:
        form: form of the problem.
        iterations: maximum number of iterations of the solver.
        tolerance: tolerance of the solver.
        compiled: whether to compile the problem, if possible.
    """

    def __init__(self, form: Form, iterations: int, tolerance: float, compiled: bool = True) -> None:
        with record_compiling():
            self._make(form, iterations, tolerance, compiled)

    def _make(self, form: Form, iterations: int, tolerance: float, compiled: bool) -> None:
        """Create the solver, using the functions of a compiled library if there is one."""
        import casadi

        self.form = form
        made, equality = _nlp(casadi, form)
        self._equal = np.array(equality)
        options: dict[str, Any] = {
            "print_time": False,
            "structure_detection": "auto",
            "equality": equality,
            "error_on_fail": False,
            "fatrop": {"print_level": 0, "max_iter": iterations, "tol": tolerance, "mu_init": 1e-2},
        }
        self._solver = casadi.nlpsol("mpc", "fatrop", made, options)
        self.compiled = False
        for path in _open_library(casadi, self._solver, form) if compiled else ():
            try:
                self._solver, self.compiled = casadi.nlpsol("mpc", "fatrop", str(path), options), True
                break
            except RuntimeError:  # a file from another machine
                path.unlink(missing_ok=True)

    def solve(
        self, start: Array, guess: tuple[Array, Array], parameters: Mapping[str, ArrayLike], obstacles: Array, bounds: Bounds
    ) -> Solution:
        """Solve the problem.

        Args:
            start: (3 + axes,) pose and last command.
            guess: initial states (steps + 1, states) and commands (steps, axes).
            parameters: parameters, keyed by the names in `LAYOUT`, each (size,) or (size, steps + 1).
            obstacles: (n, obstacles, 3 or 5) obstacles for the pose at the end of each of the first n steps.
            bounds: bounds of the problem.
        """
        form = self.form
        table = np.zeros((form.parameters, form.steps + 1))
        row = 0
        for name, size in LAYOUT.items():
            table[row : row + size] = np.asarray(parameters[name], np.float64).reshape(size, -1)
            row += size
        table[row :: obstacles.shape[2]] = AWAY
        table[row:, : len(obstacles)] = obstacles.reshape(len(obstacles), -1).T
        states, commands = guess
        stages = np.concatenate((states[:-1], commands, np.full((form.steps, 1), _SLACK)), axis=1)
        low, high = self._bounds(bounds)
        given = np.concatenate((stages.ravel(), states[-1])), np.concatenate((start, table.ravel("F")))
        answer = self._solver(x0=given[0], p=given[1], lbg=low, ubg=high)
        stats = self._solver.stats()
        found = np.asarray(answer["x"]).ravel()
        stages = found[: -form.states].reshape(form.steps, -1)
        states = np.concatenate((stages[:, : form.states], found[None, -form.states :]))
        good = bool(stats["success"]) and bool(np.isfinite(found).all())
        return Solution(states, stages[:, form.states : -1], stages[:, -1], float(answer["f"]), int(stats["iter_count"]), good)

    def _bounds(self, bounds: Bounds) -> tuple[Array, Array]:
        """Return the bounds of all constraints."""
        form = self.form
        low, high = np.zeros(len(self._equal)), np.zeros(len(self._equal))
        free = ~self._equal
        both = [] if form.kind == "unicycle" else [bounds.most if form.kind == "car" else bounds.most**2]
        rates = [np.inf] * form.axes
        stage_low = [
            *bounds.command[0],
            0.0,
            *(-r for r in rates),
            *np.zeros(form.axes),
            *(-one for one in both),
            *np.zeros(form.obstacles),
        ]
        stage_high = [*bounds.command[1], np.inf, *np.zeros(form.axes), *rates, *both, *np.full(form.obstacles, np.inf)]
        first = [[one] for one in bounds.dt] if form.free_time else [[], []]
        last = [*(-r for r in rates), *np.zeros(form.axes)], [*np.zeros(form.axes), *rates]
        low[free] = [*first[0], *(stage_low * form.steps), *last[0]]
        high[free] = [*first[1], *(stage_high * form.steps), *last[1]]
        return low, high


_SLACK = 0.01


@functools.lru_cache(maxsize=16)
def problem(form: Form, iterations: int, tolerance: float, compiled: bool = True) -> Problem:
    """Return the `Problem` for these settings; each problem is created once per process."""
    return Problem(form, iterations, tolerance, compiled)


def _stage(casadi: Any, form: Form) -> tuple[Any, Any]:
    """Return the CasADi functions for a stage and for the last pose."""
    x, u, p = casadi.SX.sym("x", form.states), casadi.SX.sym("u", form.axes + 1), casadi.SX.sym("p", form.parameters)
    at, row = {}, 0
    for name, size in LAYOUT.items():
        at[name] = p[row : row + size]
        row += size
    things = casadi.reshape(p[row:], -1, form.obstacles)
    last = x[3 : 3 + form.axes]
    dt = x[3 + form.axes] if form.free_time else at["dt"]
    vx, turn, vy = u[0], u[0] * u[1] if form.kind == "car" else u[1], u[2] if form.axes == 3 else 0.0
    command = at["active"] * casadi.vertcat(vx, turn, vy)[: form.axes]  # no motion in stages after the last

    step = at["active"] * dt
    # The displacement is the mean over the velocities at these headings: start, middle, or both ends of the step.
    headings = {
        "forward_differences": [x[2]],
        "midpoint_differences": [x[2] + 0.5 * step * turn],
        "crank_nicolson_differences": [x[2], x[2] + step * turn],
    }[form.collocation]
    share = step / len(headings)
    moved_x = x[0] + sum(share * (vx * casadi.cos(h) - vy * casadi.sin(h)) for h in headings)
    moved_y = x[1] + sum(share * (vx * casadi.sin(h) + vy * casadi.cos(h)) for h in headings)
    pose = casadi.vertcat(moved_x, moved_y, x[2] + step * turn)
    following = casadi.vertcat(pose, command, *([dt] if form.free_time else []))

    off, via = x[:3] - at["goal"], at["via"]
    state_cost = casadi.dot(at["state_weight"], off**2)
    control_cost = casadi.dot(at["control_weight"][: form.axes], command**2)
    via_cost = via[2] * ((x[0] - via[0]) ** 2 + (x[1] - via[1]) ** 2)
    cost = at["active"] * (state_cost + via_cost + at["time_weight"] * dt) + control_cost + at["slack_weight"] * u[-1]

    # The first command follows the previous one after one control period, and the others after one step.
    after = at["first"] * at["period"] + (1.0 - at["first"]) * dt
    growth, fall = at["rate"][: form.axes], casadi.vertcat(at["braking"], at["rate"][1:])[: form.axes]

    def rates(now: Any) -> list[Any]:
        return [now - last - after * growth, now - last + after * fall]

    cosine, sine = casadi.cos(pose[2]), casadi.sin(pose[2])  # of the body's heading; distances to the rectangle are signed
    gaps = []
    for i in range(form.obstacles):
        thing = things[:, i]
        then = (at["index"] + 1.0) * dt if form.free_time else 0.0  # if the time is free, an obstacle moves with its velocity
        shift = [then * thing[3], then * thing[4]] if form.free_time else [0.0, 0.0]
        dx, dy = thing[0] + shift[0] - pose[0], thing[1] + shift[1] - pose[1]
        aside = casadi.fabs(cosine * dx + sine * dy - at["body"][0]) - at["body"][2]
        along = casadi.fabs(cosine * dy - sine * dx - at["body"][1]) - at["body"][3]
        outside = casadi.sqrt(casadi.fmax(aside, 0.0) ** 2 + casadi.fmax(along, 0.0) ** 2 + _SOFT)
        gaps.append(outside + casadi.fmin(casadi.fmax(aside, along), 0.0) - thing[2] + u[-1])
    both = {"unicycle": [], "car": [turn], "holonomic": [vx**2 + vy**2]}[form.kind]
    kept = casadi.vertcat(u, *rates(command), *both, *gaps)
    stage = casadi.Function("stage", [x, u, p], [following, cost, kept], {"is_diff_in": [True, True, False]})
    ending = casadi.vertcat(*rates(casadi.SX.zeros(form.axes)))
    return stage, casadi.Function("ending", [x, p], [off, state_cost, ending], {"is_diff_in": [True, False]})


def _nlp(casadi: Any, form: Form) -> tuple[dict[str, Any], list[bool]]:
    """Return the problem in CasADi's form, and which constraints are equalities."""
    stage, ending = _stage(casadi, form)
    steps, states, wide = form.steps, form.states, form.states + form.axes + 1
    variables = casadi.MX.sym("w", steps * wide + states)
    start, table = casadi.MX.sym("start", 3 + form.axes), casadi.MX.sym("p", form.parameters * (steps + 1))
    stages, columns = casadi.reshape(variables[: steps * wide], wide, steps), casadi.reshape(table, form.parameters, steps + 1)
    xs, last = stages[:states, :], variables[steps * wide :]
    following, cost, kept = stage.map(steps)(xs, stages[states:, :], columns[:, :-1])
    off, end_cost, end = ending(last, columns[:, -1])
    closing = casadi.horzcat(xs[:, 1:], last) - following
    begin = xs[: 3 + form.axes, 0] - start
    free = [xs[-1, 0]] if form.free_time else []
    fixed = [off] if form.free_time else []
    both = casadi.vertcat(closing, kept)
    constraints = casadi.vertcat(closing[:, 0], begin, *free, kept[:, 0], casadi.vec(both[:, 1:]), *fixed, end)
    rows = kept.shape[0]
    equality = [True] * (states + 3 + form.axes) + [False] * (len(free) + rows)
    equality += ([True] * states + [False] * rows) * (steps - 1) + [True] * (3 * len(fixed)) + [False] * end.shape[0]
    made = {"x": variables, "p": casadi.vertcat(start, table), "f": casadi.sum2(cost) + end_cost, "g": constraints}
    return made, equality


def folder() -> Path:
    """Return the folder for compiled problems, located next to the kernel folder."""
    return Path(numba.config.CACHE_DIR).parent / _FOLDER


def _open_library(casadi: Any, solver: Any, form: Form) -> Any:
    """Yield a problem's library: first the stored one, then, if that is invalid, a newly built one; nothing if it cannot be
    built.
    """
    said = repr((form, casadi.__version__, platform.machine(), _FLAGS)).encode() + Path(__file__).read_bytes()
    path = folder() / f"{hashlib.blake2b(said, digest_size=8).hexdigest()}.so"
    if unseal(path) is not None:
        yield path
    code = casadi.CodeGenerator("nlp")
    for function in (solver.oracle(), *map(solver.get_function, solver.get_function())):
        code.add(function)
    with record_compiling(
        f"an optimal control problem: {form.kind}, {form.steps} steps of {'free' if form.free_time else 'fixed'} time"
    ):
        made = _compile(code.dump(), path)
    if made:
        yield path


def _compile(text: str, path: Path) -> bool:
    """Compile C code into a file, which appears only once it is complete; return whether this succeeded."""
    compiler = shutil.which(os.environ.get("CC") or "cc")
    if compiler is None:
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as place:
            source, library = Path(place, "nlp.c"), Path(place, "nlp.so")
            source.write_text(text)
            subprocess.run([compiler, *_FLAGS, str(source), "-o", str(library), "-lm"], check=True, capture_output=True)
            library.write_bytes(seal(library.read_bytes()))  # the loader reads no further than the library's own end
            os.replace(library, path)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True
