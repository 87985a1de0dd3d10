"""Schemas of training runs."""

from __future__ import annotations

from typing import Any

from agora.learning.card import Result
from agora.web._schemas.base import ALL_KEYS, Model, OpenModel
from agora.web._schemas.catalogue import Field, Policy


class Took(Model):
    """The number of steps and the duration (s) of a training run, and the processor on which it ran."""

    steps: int
    seconds: float
    cpu: str


class TrainingEntry(Model):
    """A training configuration included in Agora; ``missing`` states why it cannot run on this machine."""

    model_config = ALL_KEYS

    name: str
    label: str
    method: str
    planner: str
    suite: str
    stage: str
    validation: str
    test: str
    stages: list[str]
    cannot: str
    trainer: str
    missing: str
    took: Took | None
    results: list[Result]


class TreeField(Field):
    """A field with its current value as the default, and the fields nested in it."""

    fields: list[TreeField]


class TrainingFields(Model):
    """A training configuration with its fields and their values."""

    name: str
    seeds: list[int]
    fields: list[TreeField]


class SeedProgress(Model):
    """The progress of a training run with one seed; ``checkpoint`` is in steps."""

    model_config = ALL_KEYS

    seed: int
    begun: bool
    checkpoint: float | None
    whole: bool
    results: list[Result]


class Trainer(OpenModel):
    """The trainer of a training configuration, with its parameters."""

    name: str


class TrainingFile(OpenModel):
    """The content of a training file."""

    name: str
    method: str
    planner: str
    suite: str
    stage: str
    validation: str
    test: str
    stages: list[str]
    trainer: Trainer


class TrainingProgress(Model):
    """A requested training run: its file, its seeds, its policy, and the names of its files."""

    training: TrainingFile
    file: str
    seeds: list[SeedProgress]
    policy: Policy | None
    files: list[str]


class CurvePart(Model):
    """The new points of a curve; ``version`` and ``offset`` are for the next request."""

    version: str
    offset: int
    points: list[dict[str, float]]
    fresh: bool
    more: bool


class TrainingRequest(Model):
    """A request for a training run, with changed fields by dotted name."""

    training: str
    changes: dict[str, Any] = {}
    seeds: list[int] = []
    minutes: float | None = None
    title: str = ""
