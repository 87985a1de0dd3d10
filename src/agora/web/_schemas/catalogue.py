"""Schemas of everything that has a name: components, suites, planners, robots, policies."""

from __future__ import annotations

from typing import Any, Literal

from agora.learning.card import Result
from agora.web._schemas.base import ALL_KEYS, Model, OpenModel, Point


class About(Model):
    """A server; ``code`` states why planners uploaded as code are rejected, and is empty if they can run."""

    version: str
    folder: str
    code: str


class Stage(Model):
    """A stage of a suite, with the number of its episodes."""

    name: str
    count: int
    about: str = ""


class Suite(Model):
    """A suite; ``missing`` states why it cannot run on this machine."""

    name: str
    kind: Literal["library", "suite", "scenario"]
    description: str
    stages: list[Stage]
    missing: str
    path: str = ""


class SuiteFile(Suite):
    """A suite with the text of its file."""

    text: str


class Planner(Model):
    """A planner or a preset; ``missing`` states why it cannot run on this machine."""

    name: str
    kind: Literal["planner", "preset"]
    planner: str
    summary: str
    label: str
    needs: list[str]
    changes: dict[str, Any]
    learned: bool
    missing: str
    path: str = ""


class KindOfComponent(Model):
    """The description of a kind of component, and the names of its components."""

    words: str
    names: list[str]


class Shape(Model):
    """The structure of a composite value; each part is a single value described by ``of``, a record, or a component."""

    of: Literal["number", "whole", "yes", "choice", "text", "component", "record", "shares"]
    many: bool
    length: int
    single: bool
    word: str
    record: str
    kind: str
    choices: list[str]
    optional: bool


class Field(Model):
    """A form field, with the control that edits it."""

    name: str
    type: Literal["number", "whole", "yes", "choice", "text", "component", "other"]
    words: str
    default: Any
    required: bool
    least: float | None
    most: float | None
    above: bool
    choices: list[str]
    kind: str
    shape: Shape | None
    help: str


class RecordFields(Model):
    """A dataclass with its fields."""

    text: str
    fields: list[Field]


class Component(Model):
    """A component with its fields and their records."""

    kind: str
    name: str
    summary: str
    text: str
    fields: list[Field]
    records: dict[str, RecordFields]


class RobotLidar(Model):
    """The number of beams and the range of a lidar, m."""

    beams: int
    range: float


class Robot(Model):
    """A robot."""

    name: str
    radius: float
    outline: list[Point]
    kinematics: str
    top_speed: float
    lidar: RobotLidar | None
    sensors: list[str]


class Published(OpenModel):
    """A published result for comparison."""

    stage: str
    success: float
    source: str
    seconds: float | None = None


class CardTraining(OpenModel):
    """The training of a policy."""

    label: str
    method: str
    planner: str
    suite: str
    stage: str
    test: str
    cannot: str
    published: list[Published]


class CardSeed(OpenModel):
    """A training run with one seed."""

    model_config = ALL_KEYS

    seed: int
    steps: int
    results: list[Result]


class Card(OpenModel):
    """The card of a policy: its training and its results."""

    training: CardTraining
    seeds: list[CardSeed]


class Policy(Model):
    """A policy; trained policies have a card and a run, uploaded policies have the keys from ``size`` onwards."""

    name: str
    card: Card | None
    run: str
    planner: str
    path: str
    size: int = 0
    label: str = ""
    needs: list[str] = []
    words: str = ""
    wrong: str = ""
    about: dict[str, str] = {}
    body: dict[str, Any] | None = None
    period: float | None = None
    weights: dict[str, list[int]] = {}
