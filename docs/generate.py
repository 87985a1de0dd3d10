"""Generates reference pages from the components themselves, in docs/reference/generated."""

from __future__ import annotations

import ast
import csv
import dataclasses
import importlib
import inspect
import re
import typing
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer
from edition import edition
from limits import limits_page
from rows import (
    MEASURED_HEAD,
    OUTCOMES,
    STALE,
    age,
    interval,
    labelled,
    marked,
    measured,
    measured_line,
    measured_suites,
    share,
    stale_in,
    table,
)
from sqlalchemy import create_engine
from standings import EDITION

import agora
from agora.cli.app import app
from agora.core.recording import Recording
from agora.datasets.catalogue import CATALOGUE
from agora.draft.pedestrian_types import PedestrianType
from agora.draft.people import People
from agora.draft.periods import Periods
from agora.draft.scenario import Obstacle, Obstacles, Pedestrian, Robot, Scenario
from agora.draft.stage import CrowdSettings, NavigationSettings, Stage
from agora.field_docs import introduction, meanings
from agora.interfaces import (
    ROBOT,
    Answer,
    Card,
    CrowdDeclaration,
    CrowdScene,
    Declaration,
    Guidance,
    Limits,
    Observation,
    SemanticMaps,
    SemanticWindow,
    Tracks,
)
from agora.learning.card import card_names as policy_card_names
from agora.learning.card import load_policy_card
from agora.learning.training import Published, Training
from agora.maps.furniture import Furniture, ModelFile
from agora.maps.grid import Map
from agora.maps.io import MapFile, ShapesFile
from agora.maps.zones import ZoneFile
from agora.optics.camera import Camera
from agora.optics.lidar import Lidar
from agora.perception.detector import Detector
from agora.perception.groups import GroupDetector
from agora.perception.hog import HogDetector
from agora.perception.image_tracker import Locator
from agora.perception.images import ImageDetector
from agora.perception.in_images import InImages
from agora.perception.perception import Perception
from agora.perception.tracker import Tracker
from agora.perception.view import View
from agora.planners.presets import preset_names
from agora.policies.look_ahead import LookAhead
from agora.registry import KINDS, Named, available, load, required
from agora.reporting.published_numbers import PublishedRow, published_numbers
from agora.reporting.statistics import wilson
from agora.robots.model import RobotModel, load_robot, robot_names
from agora.share import folder
from agora.tasks.arena_benchmark import (
    BenchmarkFile,
    Contestant,
    ContestChoice,
    ContestFile,
    StageEntry,
    SuiteChoice,
    SuiteFile,
)
from agora.tasks.cards.card import card_names, load_card, situation_of
from agora.tasks.faults import task_of
from agora.tasks.modules.staged import CurriculumStage
from agora.tasks.obstacles.random import Amount
from agora.tasks.parametrized import ModelCount
from agora.tasks.robots.guided import Route
from agora.tasks.roles import PedestrianRole, RobotRole, Roles
from agora.tasks.settings import (
    GuidedSettings,
    ParametrizedSettings,
    RandomSettings,
    ScenarioSettings,
    Settings,
    StagedSettings,
    ZonesSettings,
)
from agora.tasks.suite import Suite, load_suite, suite_names
from agora.viewer.figures import save
from agora.viewer.situation import situation_figure
from agora.web.app import create_app
from agora.web.settings import Settings as WebSettings
from agora.wire.episode import Episode
from agora.wire.question import Hello, Question
from agora.wire.snapshot import PedestriansNow, RobotsNow, Snapshot
from agora.world.start import PedestrianStarts, RobotStart, Start
from agora.world.trajectories import Trajectories
from agora.written import key_of

COMPONENTS = {
    "planners": ("planners", "global_planners"),
    "predictors": ("predictors",),
    "costmap_layers": ("costmap_layers",),
    "crowd_models": ("crowd_models",),
    "behaviours": ("behaviours",),
    "tasks": ("worlds", "robots_modes", "obstacles_modes", "modules"),
    "map_generators": ("map_generators",),
    "executors": ("executors",),
    "trainers": ("trainers",),
    "parts_of_policies": ("encodings", "networks", "rewards"),
}
"""Pages of components, with the kinds of component on each page."""

FILES: dict[str, tuple[type, ...]] = {
    "pedestrian_types": (PedestrianType,),
    "suite_file": (Suite, Stage, CrowdSettings, People, NavigationSettings, Periods),
    "map_file": (MapFile, ShapesFile, ZoneFile),
    "furniture_file": (Furniture, ModelFile),
    "scenario_file": (Scenario, Robot, Obstacles, Obstacle, Pedestrian),
    "robot_file": (RobotModel, Lidar),
    "task_generator_file": (
        Settings,
        ScenarioSettings,
        ParametrizedSettings,
        StagedSettings,
        RandomSettings,
        Amount,
        ZonesSettings,
        GuidedSettings,
    ),
    "parametrized_file": (ModelCount,),
    "route_file": (Route,),
    "roles_file": (Roles, PedestrianRole, RobotRole),
    "curriculum_file": (CurriculumStage,),
    "training_file": (Training, Published),
    "arena_benchmark_files": (BenchmarkFile, SuiteChoice, ContestChoice, SuiteFile, StageEntry, ContestFile, Contestant),
}
"""Pages of file formats, with the records into which the files are read."""

RECORDS: dict[str, tuple[type, ...]] = {
    "observation": (Observation, Tracks, Limits, SemanticMaps, SemanticWindow),
    "guidance": (Guidance,),
    "declaration": (Declaration,),
    "trained": (LookAhead,),
    "crowd_declaration": (CrowdDeclaration,),
    "crowd_scene": (CrowdScene,),
    "perception": (Perception, View, Detector, Tracker, GroupDetector, InImages, Locator, ImageDetector, HogDetector, Camera),
    "wire": (Episode, Start, RobotStart, PedestrianStarts, Trajectories, Snapshot, PedestriansNow, RobotsNow, Recording),
    "program": (Hello, Question, Answer),
}
"""Pages about the data passed to plug-ins, and about parameters that can only be set in Python."""


HERE = Path(__file__).resolve().parent
LABELS = {
    "faithful": "the published method; where it differs is said below",
    "small": "the published learned method with a smaller network or less training",
    "reconstruction": "rebuilt from a publication that leaves much unsaid",
    "own": "no publication stands behind it",
}
"""Meanings of the planner labels."""

PURPOSES = {"training": "tuning and training", "test": "tests"}
"""Purpose of the suites of each split."""

PICTURES = {
    "frontal_approach": "A pedestrian comes towards the robot: the first episode of the stage `frontal_approach`",
    "narrow_doorway": "A pedestrian in a doorway: the first episode of the stage `narrow_doorway`",
}
"""Stages of the suite planners for which `docs/measure.py` draws pictures, with their captions."""


def write(place: Path) -> None:
    """Write every generated page into a folder."""
    place.mkdir(parents=True, exist_ok=True)
    pages = {
        name: "\n".join(planners() if kind == "planners" else component_section(kind) for kind in kinds)
        for name, kinds in COMPONENTS.items()
    }
    pages |= {name: "\n".join(record_section(record) for record in records) for name, records in (FILES | RECORDS).items()}
    pages |= {
        "interplanners": interplanners(),
        "narrow": narrow(),
        "among_people": among_people(),
        "edition": edition("social", EDITION),
        "limits": limits_page(),
        "metrics": metrics(),
        "robots": robots(),
        "suites": suites(),
        "presets": presets(),
        "data_sets": data_sets(),
        "truth": truth(),
        "cards": cards(),
        "policies": policies(),
        "python_api": python_api(),
    }
    pages["command_line"] = command_line()
    pages["web_addresses"] = web_addresses()
    for name, text in pages.items():
        put(place / f"{name}.md", text)


def put(path: Path, text: str) -> bool:
    """Write a page if it is missing or has different content; return whether it was written."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8")
    return True


def write_cards(place: Path, names: Sequence[str] = ()) -> None:
    """Write a page with a picture into a folder for each card of the scenario library, or for the named cards."""
    place.mkdir(parents=True, exist_ok=True)
    for name in names or card_names():
        card, picture = load_card(name), place / f"{name}.png"
        if put(place / f"{name}.md", card_page(card)) or not picture.is_file():
            suite = Suite("scenario", (card.stage(),))
            situation = situation_of(suite, name, 0)
            task = task_of(situation, load_robot(ROBOT).radius)
            save(situation_figure(task, area=situation.area), picture, dpi=120)


def write_planners(place: Path) -> None:
    """Write a page for each local planner into a folder."""
    place.mkdir(parents=True, exist_ok=True)
    for name in available("planners"):
        put(place / f"{name}.md", planner_page(name))


def write_policies(place: Path) -> None:
    """Write the card of each policy, with a picture of its training curve, into a folder."""
    place.mkdir(parents=True, exist_ok=True)
    for name in policy_card_names():
        card = load_policy_card(name)
        if put(place / f"{name}.md", card.page(f"{name}.png")) or not (place / f"{name}.png").is_file():
            save(card.curve(), place / f"{name}.png", dpi=120)


def policies() -> str:
    """Return a table of all policies that have a card: what each claims to be, and what its first seed achieves in its test.

    If a number is published for the first stage, the row is for that stage; otherwise it is for all stages.
    """
    rows = []
    for name in policy_card_names():
        card = load_policy_card(name)
        results, said = card.seeds[0].results, card.training
        published = next((n for n in said["published"] or () if n["stage"] == results[0].stage), None)
        stated = "" if published is None else f"{100 * published['success']:.0f} %"
        shown = results[:1] if published else results
        reached, episodes = (sum(getattr(one, count) for one in shown) for count in ("reached", "episodes"))
        low, high = (f"{100 * end:.1f}" for end in wilson(reached, episodes))
        where = f"{said['test']}/{shown[0].stage}" if len(shown) == 1 else said["test"]
        success = f"{100 * reached / episodes:.1f} % [{low}, {high}]"
        link = f"[`{name}`](generated/policies/{name}.md)"
        rows.append([link, said["label"], f"`{where}`, {episodes} episodes", success, stated])
    return table(["policy", "label", "test", "success", "published"], rows)


def planners() -> str:
    """Return a table of all local planners: what each claims to be, what it reads, and its results on the shared suite."""
    rows = []
    for name in available("planners"):
        line = next((row for row in measured("planners") if row["planner"] == name), None)
        done = "not measured" if line is None else share(line, "success") + (f" ({STALE})" if line["stale"] else "")
        declares = declaration(name)
        rows.append([f"[`{name}`](generated/planners/{name}.md)", declares.label, reads(name) or "pose and goal alone", done])
    head = "## Local planners\n\nEach has a page of its own.\n\n"
    return head + table(["name", "label", "reads", "success on the suite `planners`"], rows) + "\n" + age("planners")


def narrow() -> str:
    """Return the table of planners in narrow places with the dates of their rows; below it, the robots that do not always pass.

    The rows come from benchmarks/narrow.py.
    """
    with (HERE / "reference" / "narrow.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    places = list(dict.fromkeys(row["place"] for row in rows))
    lines, missed, stale = [], [], stale_in("narrow")
    for name in dict.fromkeys(row["planner"] for row in rows):
        cells = []
        for place in places:
            there = [row for row in rows if (row["planner"], row["place"]) == (name, place)]
            passed, asked = (sum(int(row[key]) for row in there) for key in ("passed", "asked"))
            cells.append(f"{passed} of {asked}" if there else "not measured")
            missed += [(name, place, row) for row in there if row["passed"] != row["asked"]]
        measured_at = sorted({(row["date"], row["commit"]) for row in rows if row["planner"] == name})
        shown = marked(name, STALE if name in stale else "")
        lines.append([shown, *cells, ", ".join(f"{day} ({commit})" for day, commit in measured_at)])
    short = [[f"`{name}`", place, f"`{row['robot']}`", f"{row['passed']} of {row['asked']}"] for name, place, row in missed]
    return "\n".join(
        [table(["planner", *places, "measured on (commit)"], lines), table(["planner", "place", "robot", "passes"], short)]
    )


def among_people() -> str:
    """Return the table of planners on the edition with all outcomes."""
    rows = sorted(measured(EDITION), key=lambda row: -float(row["success"]))
    ends = ["hit a person", "a wall", "left the map", "time-out"]
    head = ["planner", f"`{EDITION}`", "reached clean", *ends, "time (s)"]
    lines = []
    for row in rows:
        shares = [share(row, name) for name in ("success", "clean_arrival")]
        outcomes = [f"{100 * float(row[one]):.0f} %" for one in OUTCOMES]
        lines.append([labelled(row), *shares, *outcomes, interval(row, "time_to_goal")])
    return table(head, lines)


def declaration(name: str) -> Declaration:
    """Return the declaration of a planner with default parameters; an empty one if it requires parameters."""
    found: Declaration = Declaration() if required("planners", name) else load("planners", name)().declares
    return found


def reads(name: str) -> str:
    """Return the channels that a planner reads."""
    return "what its parameters say" if required("planners", name) else ", ".join(sorted(declaration(name).channels))


def planner_page(name: str) -> str:
    """Return the page of a planner: its claim, its parameters, its results on the suites, and how it passes people."""
    planner, declares = load("planners", name), declaration(name)
    label, needs = declares.label, reads(name)
    lines = [f"# `{name}`\n", f"{summary(planner)}\n", f"Label\n: {label}: {LABELS[label]}\n"]
    lines += [f"Reads\n: pose, twist, goal and limits of the robot{', ' * bool(needs)}{needs}\n"]
    if source := module_source(planner):
        lines += ["## Source\n", f"{source}\n"]
    lines += ["## Parameters\n", parameters(planner)]
    if tunable := declares.tunable:
        spans = [
            [f"`{key}`", f"{s.low:g}", f"{s.high:g}", "by order of magnitude" if s.log else "evenly"] for key, s in tunable.items()
        ]
        lines += ["`agora tune` tries\n", table(["parameter", "from", "to", "drawn"], spans)]
    lines += ["## Measured\n", *measured_tables(name)]
    return "\n".join([*lines, *pictures("planners", name, "../../..")])


def pictures(folder: str, name: str, up: str) -> Iterable[str]:
    """Yield the pictures of a planner in a folder of images; ``up`` is the relative path from the page to the folder's parent."""
    for stage, caption in PICTURES.items():
        picture = HERE / "images" / folder / f"{name}_{stage}.png"
        if picture.is_file():
            yield f"![{caption}]({up}/images/{folder}/{picture.name})\n\n{caption}.\n"


def interplanners() -> str:
    """Return the page of interplanners: each measured local planner combined with every interplanner, then every interplanner."""
    rows = measured("planners")
    guided = [row for row in rows if row.get("interplanner")]
    alone = [row for row in rows if row["planner"] in {row["component"] for row in guided}]
    parts = ["## Measured\n", "Suite `planners`, means with intervals of 95 %:\n"]
    parts += [table(MEASURED_HEAD, [measured_line(row) for row in (*alone, *guided)]), age("planners")]
    for name in available("interplanners"):
        parts.append(component_part("interplanners", name, "##"))
        for row in guided:
            if row["interplanner"] == name:
                parts += pictures("interplanners", row["planner"].replace("+", "_"), "..")
    return "\n".join(parts)


def measured_tables(component: str) -> Iterable[str]:
    """Yield a table for each suite on which a planner was measured, including its presets."""
    found = False
    for suite in measured_suites():
        rows = [row for row in measured(suite) if row["component"] == component and not row.get("interplanner")]
        if rows:
            found = True
            yield f"Suite `{suite}`, means with intervals of 95 %:\n"
            yield table(MEASURED_HEAD, [measured_line(row) for row in rows])
            yield age(suite)
    if not found:
        yield "Not measured yet on a suite that the manual keeps.\n"


def truth() -> str:
    """Return every published number next to ours, in one table per published row, and how many agree."""
    with (HERE / "reference" / "published.csv").open(newline="", encoding="utf-8") as file:
        found = {tuple(row[key] for key in ("source", "planner", "table", "metric")): row for row in csv.DictReader(file)}
    parts, counts = [], dict.fromkeys(("agrees", "differs", "no value", "not measured", "not here"), 0)
    for source, numbers in published_numbers().items():
        parts.append(f"## {numbers.title}\n")
        for line in numbers.rows:
            rows = [truth_line(line, name, found.get((source, line.planner, line.table, name), {})) for name in line.values]
            verdicts = [row[-1] for row in rows]
            for verdict in verdicts:
                counts[verdict] += 1
            stages = f", {', '.join(line.stages)}" if line.stages else ""
            here = f"`{line.ours}` on `{line.suite}`{stages}" if line.ours else "nothing"
            parts += [f"**{line.planner}**, {line.table}; here {here}\n"]
            parts += [table(["metric", "published", "ours", "episodes", "verdict"], rows)]
            parts += [f"{prose(line.why)}\n"] if line.why and {"differs", "not here", "not measured"} & set(verdicts) else []
    total = ", ".join(f"{verdict}: {count}" for verdict, count in counts.items() if count)
    return "\n".join([f"{sum(counts.values())} published numbers; {total}.\n", *parts])


def truth_line(line: PublishedRow, name: str, row: dict[str, str]) -> list[str]:
    """Return a table line for a published number; the last cell is the verdict."""
    verdict = row.get("verdict") or ("not measured" if line.ours else "not here")
    scale = 100.0 if load("metrics", name).unit == "0/1" else 1.0
    return [
        f"`{name}`",
        row.get("published") or f"{scale * line.values[name][0]:.4g}",
        row.get("ours", ""),
        row.get("n", ""),
        verdict,
    ]


def component_section(kind: str) -> str:
    """Return a section with all components of a kind."""
    return "\n".join([f"## {KINDS[kind].capitalize()}s\n", *(component_part(kind, name, "###") for name in available(kind))])


def component_part(kind: str, name: str, head: str) -> str:
    """Return the description of a component: what it is, what it needs, its source, and its parameters."""
    component = load(kind, name)
    lines = [f"{head} `{name}`\n\n{summary(component)}\n"]
    if kind == "interplanners":
        lines.append(f"Needs: {', '.join(sorted(component().declares.channels))}.\n")
    if source := module_source(component):
        lines.append(f"Source: {source}\n")
    return "\n".join([*lines, parameters(component)])


def record_section(record: type) -> str:
    """Return the description of a record and its fields."""
    return f"### {record.__name__}\n\n{summary(record)}\n\n{parameters(record)}"


def summary(component: Any) -> str:
    """Return the text of a docstring before its sections, as Markdown."""
    return prose(introduction(component))


def module_source(component: Any) -> str:
    """Return the source given after the first line of the docstring of the component's module, or of the module of a base class."""
    for origin in component.__mro__:
        _, _, rest = (inspect.getdoc(inspect.getmodule(origin)) or "").partition("\n\n")
        if re.search(r"\b(19|20)\d\d\b", rest):
            return prose(rest.removeprefix("Source: "))
    return ""


def parameters(component: type) -> str:
    """Return a table of a dataclass's fields: name, type, default, meaning."""
    fields = [field for field in dataclasses.fields(component) if field.init]
    if not fields:
        return "No parameters.\n"
    meaning = {name: prose(text) for name, text in meanings(component, [field.name for field in fields]).items()}
    hints = typing.get_type_hints(component, localns={"Map": Map}, include_extras=False)
    has_defaults = any(default(field) for field in fields)
    rows = []
    for field in fields:
        row = [f"`{key_of(field)}`", f"`{type_name(hints[field.name])}`"]
        row += [default(field) or "required"] if has_defaults else []
        rows.append([*row, meaning.get(field.name, "")])
    return table(["name", "type", *(["default"] if has_defaults else []), "meaning"], rows)


def default(field: dataclasses.Field[Any]) -> str:
    """Return a field's default as it would be written in a file; empty if there is none."""
    value = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    if value is dataclasses.MISSING:
        return ""
    if isinstance(value, Named):
        return f"`{value.name}`"
    if dataclasses.is_dataclass(value):
        return "its defaults"
    if isinstance(value, np.ndarray):
        return "none"
    if value is None or isinstance(value, bool):
        return f"`{str(value).lower() if value is not None else 'null'}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    return f"`{value}`" if value != "" else '`""`'


def type_name(hint: Any) -> str:
    """Return a short description of a type."""
    name = hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)
    for pattern, short in (
        (r"numpy\.ndarray\[[^\]]*\]*, numpy\.dtype\[(?:numpy\.|typing\.)?(\w+)\]\]", r"array of \1"),
        (r"typing\.|agora(?:\.\w+)*\.|collections\.abc\.|numpy\.", ""),
        (r"<class '(?:\w+\.)*(\w+)'>", r"\1"),
        (r"\bNamed\b", "name or mapping"),
        (r"NoneType|None", "null"),
        (r"Optional\[(.*)\]$", r"\1 | null"),
        (r"Literal\[([^\]]*)\]", lambda m: m[1].replace(", ", " | ").replace("'", "")),
        (r"tuple\[(\w+), \.\.\.\]", r"list of \1"),
        (r"tuple\[(.*), \.\.\.\]", r"list of (\1)"),
        (r"tuple(?=\[)", ""),
    ):
        name = re.sub(pattern, short, name)
    return name


def metrics() -> str:
    """Return a table of all metrics."""
    rows = []
    for name in available("metrics"):
        m = load("metrics", name)
        arrow = {"higher": "↑", "lower": "↓", "neutral": ""}[m.direction]
        meaning = f"{prose(m.formula)}. {summary(m.function)}"
        rows.append([f"`{name}`", arrow, m.unit, meaning, m.walls, prose(m.source), str(m.version), m.over])
    head = ["name", "better", "unit", "definition and remarks", "walls", "source", "version", "compared on episodes"]
    return table(head, rows)


def robots() -> str:
    """Return a table of all robots."""
    rows = []
    for name in robot_names():
        r = load_robot(name)
        shape = f"{len(r.footprint)} corners, {r.radius:g}" if r.footprint else f"disc, {r.radius:g}"
        lidar = f"{r.lidar.beams}, {r.lidar.range_max:g} m, {r.lidar.rate:g} Hz" if r.lidar else "none"
        speed = f"{r.vx[0]:g} to {r.vx[1]:g}" + (f", vy {r.vy:g}" if r.vy else "")
        limits = ", ".join("-" if value is None else f"{value:g}" for value in (r.ax, r.alpha))
        limits += f", ay {r.ay:g}" if r.vy and r.ay else ""
        rows.append([f"`{name}`", r.kinematics, shape, speed, f"{r.omega:g}", limits, lidar, prose(r.source)])
    return table(["name", "kinematics", "footprint, radius (m)", "vx (m/s)", "omega (rad/s)", "ax, alpha", "lidar", "source"], rows)


def suites() -> str:
    """Return all suites with their stages."""
    parts = []
    for name in suite_names():
        suite = load_suite(name)
        parts.append(
            f"## `{name}`\n\n{prose(suite.description)} Version {suite.version}, seed {suite.seed}, for {PURPOSES[suite.split]}.\n"
        )
        rows = []
        for stage in suite.stages:
            robots_ = stage.robot if isinstance(stage.robot, str) else ", ".join(stage.robot)
            episodes = str(stage.episodes) if stage.episodes else "one of each world"
            modes = [f"`{part.name}`" for part in (stage.world, stage.robots, stage.obstacles)]
            models = ", ".join(f"`{part.name}`" for part in stage.crowd.parts)
            rows.append(
                [
                    stage.name,
                    episodes,
                    *modes,
                    models,
                    robots_,
                    stage.timeout if isinstance(stage.timeout, str) else f"{stage.timeout:g} s",
                ]
            )
        parts.append(table(["stage", "episodes", "world", "robots", "obstacles", "crowd model", "robot", "time limit"], rows))
    return "\n".join(parts)


def cards() -> str:
    """Return a table of all cards in the scenario library."""
    rows = []
    for name in card_names():
        card = load_card(name)
        rows.append([f"[`{name}`](generated/cards/{name}.md)", card.figure, prose(card.title), card.family, prose(card.tests)])
    return table(["name", "figure", "title", "family", "tests"], rows)


def card_page(card: Card) -> str:
    """Return the page of a card: its subject and its parameters."""
    source = f"{card.origin}, figure {card.figure}" if card.figure else card.origin
    texts = {
        "Tests": card.tests,
        "Leaves out": card.leaves_out,
        "Intended": card.intended,
        "Happened when": card.happens,
        "Metrics that matter": ", ".join(f"`{name}`" for name in card.measures),
        "After": source,
    }
    model = ", ".join(f"{value}" if key == "name" else f"{key} {value}" for key, value in card.model.items())
    sees = "who see the robot" if card.sees_robots else "who do not see the robot"
    ways = {
        "search": "a robot that knows beforehand where everybody will be",
        "behind": "a robot that drives behind the pedestrian",
    }
    ways |= {"beside": "a robot that drives beside the pedestrian", "ahead": "a robot that drives slowly ahead of the pedestrian"}
    texts["People"] = f"of the model `{model}`, {sees}"
    texts["Shown to be solvable by"] = ways[card.oracle]
    lines = [
        f"# {card.title}\n",
        f"`{card.name}`: {prose(summary(card.build))}\n",
        f"![The situation, drawn once]({card.name}.png)\n",
    ]
    lines += [f"{head}\n: {text if head in ('Metrics that matter', 'People') else prose(text)}\n" for head, text in texts.items()]
    rows = [[f"`{name}`", f"{r.low:g}", f"{r.high:g}", r.unit, prose(r.meaning)] for name, r in card.parameters.items()]
    return "\n".join([*lines, table(["parameter", "from", "to", "unit", "meaning"], rows)])


def presets() -> str:
    """Return all planner presets, each with its file."""
    files = ((name, (folder("configs") / "planners" / f"{name}.yaml").read_text(encoding="utf-8")) for name in preset_names())
    return "\n".join(f"### `{name}`\n\n```yaml\n{text.strip()}\n```\n" for name, text in files)


def data_sets() -> str:
    """Return all data sets that can be imported."""
    return table(["name", "what", "from"], [[f"`{d.name}`", prose(d.title), prose(d.origin)] for d in CATALOGUE.values()])


def public() -> Iterable[tuple[str, tuple[str, ...]]]:
    """Return the public modules with their public names: ``__all__``, or the names that a package re-exports."""
    library = Path(agora.__file__).parent
    for path in sorted(library.rglob("*.py")):
        module = ".".join(path.relative_to(library.parent).with_suffix("").parts).removesuffix(".__init__")
        if any(part.startswith("_") for part in module.split(".")):
            continue
        exported: list[str] = []
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                exported += ast.literal_eval(node.value)
            elif isinstance(node, ast.ImportFrom) and path.name == "__init__.py":
                exported += [alias.name for alias in node.names if alias.asname == alias.name]
        if exported:
            yield module, tuple(exported)


ROOMS = {
    "Programs": (
        "benchmark",
        "cli",
        "config",
        "datasets",
        "doctor",
        "episode",
        "errors",
        "leaderboard",
        "learning",
        "maps",
        "metrics",
        "planners.presets",
    )
    + (
        "packed",
        "registry",
        "rendering",
        "reporting",
        "robots",
        "share",
        "tasks.generator",
        "tasks.suite",
        "tuning",
        "validation",
        "viewer",
        "written",
    ),
    "Nodes and programs in other languages": ("node_logic", "wire"),
    "New components": (
        "channels",
        "core",
        "costmap",
        "draft",
        "engine",
        "interfaces",
        "pedestrians",
        "perception",
        "planners",
        "policies",
        "seeds",
    )
    + ("optics", "simulators", "tasks", "testing", "world"),
}
"""The audiences of public names, with the modules and packages intended for each; if two entries match, the longer one applies."""


def room_of(module: str) -> str:
    """Return the heading under which a module is listed."""
    inside = module.removeprefix("agora").removeprefix(".")
    fits = [(len(one), room) for room, names in ROOMS.items() for one in names if f"{inside}.".startswith(f"{one}.")]
    return max(fits)[1] if inside else "At hand: `import agora`"


def first_paragraph(value: Any) -> str:
    """Return the first paragraph of a docstring on one line; empty if there is no docstring."""
    return " ".join((value.__doc__ or "").strip().partition("\n\n")[0].split())


def python_api() -> str:
    """Return every public name of the library, by audience and module, with the first paragraph of its docstring."""
    parts: dict[str, list[str]] = {}
    for name, names in sorted(public()):
        module = importlib.import_module(name)
        rows = []
        for each in sorted(names, key=str.lower):
            value = getattr(module, each)
            told = inspect.isclass(value) or hasattr(value, "__wrapped__") or inspect.isfunction(value)
            rows.append([f"`{each}`", prose(first_paragraph(value)) if told else ""])
        head = prose(first_paragraph(module))
        parts.setdefault(room_of(name), []).append(f"### `{name}`\n\n{head}\n\n{table(('name', ''), rows)}")
    order = ["At hand: `import agora`", *ROOMS]
    assert set(parts) == set(order), set(order) ^ set(parts)
    return "\n".join(f"## {room}\n\n" + "\n".join(parts[room]) for room in order)


def web_addresses() -> str:
    """Return the web server's addresses, as the server itself describes them."""
    paths = create_app(WebSettings(Path("web")), create_engine("sqlite://")).openapi()["paths"]
    rows = []
    for path, methods in paths.items():
        for method, said in methods.items():
            asked = [f"`{one['name']}`" for one in said.get("parameters", ()) if one["in"] == "query"]
            rows.append([f"`{method.upper()} {path}`", prose(said["description"]), ", ".join(asked)])
    return table(["address", "answer", "query"], rows)


def command_line() -> str:
    """Return all commands with their arguments and options."""
    return "\n".join(command_section(command, path) for path, command in commands(typer.main.get_command(app), ("agora",)))


def commands(command: Any, path: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], Any]]:
    """Yield the commands in a group, including those in subgroups, but not hidden commands (former names)."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
    else:
        for name, one in inner.items():
            yield from () if one.hidden else commands(one, (*path, name))


def command_section(command: Any, path: Sequence[str]) -> str:
    """Return the section of one command."""
    rows = []
    for part in command.params:
        if part.name == "help":
            continue
        is_option = part.param_type_name == "option"
        words = ", ".join(f"`{word}`" for word in (*part.opts, *part.secondary_opts)) if is_option else f"`{part.name.upper()}`"
        start = "" if part.default is None or part.default is False or callable(part.default) else f" Default: {part.default}."
        rows.append([words, prose((getattr(part, "help", "") or "") + start + (" Required." if part.required else ""))])
    return f"## `{' '.join(path)}`\n\n{prose(command.help or '')}\n\n" + (table(["argument", "meaning"], rows) if rows else "")


def prose(text: str) -> str:
    """Return plain docstring text as Markdown: code stays code, and everything else is escaped."""
    parts = re.split(r"(``[^`]+``|`[^`]+`)", re.sub(r"[ \t]+", " ", text.strip()))
    words = (re.sub(r"([\\*_<>|\[\]$])", r"\\\1", part) if k % 2 == 0 else f"`{part.strip('`')}`" for k, part in enumerate(parts))
    return "".join(words)
