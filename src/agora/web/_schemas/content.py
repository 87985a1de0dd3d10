"""Schemas of worlds, drawings, scenarios, suites and imports."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from agora.web._schemas.base import Extent, Model, Point, RequestBody, Text, expect, is_whole
from agora.web._schemas.catalogue import Field, RecordFields, Stage
from agora.web._schemas.live import Palettes, Plan


class WorldEntry(Model):
    """A world in the list of all worlds; if the world cannot be read, ``size`` is empty and ``missing`` gives the reason."""

    name: str
    origin: Literal["library", "imported", "own"]
    size: list[float]
    missing: str
    owner: str


class WorldZone(Model):
    """A zone of a world."""

    label: str
    polygon: list[list[Point]]


class Place(Model):
    """A map as drawn by the front end."""

    size: list[float]
    resolution: float
    extent: Extent
    map: Plan
    zones: list[WorldZone]
    colours: Palettes
    states: list[tuple[str, str]]
    names: list[str]


class World(Place):
    """A world as drawn by the front end."""

    name: str
    origin: Literal["library", "imported", "own"]


class Zone(WorldZone):
    """A zone of a drawing."""

    category: list[str]


class Piece(Model):
    """A piece of furniture."""

    model: str
    x: float
    y: float
    heading: float


class WorldDrawing(Model):
    """The drawing of a user's world; ``cells`` is gzipped and base64-encoded, one byte per cell, lowest row first."""

    name: str
    version: str
    origin: Point
    resolution: float
    rows: int
    columns: int
    shapes: bool
    colours: Palettes
    cells: str
    zones: list[Zone]
    furniture: list[Piece]
    owner: str


class ScenarioProblem(Model):
    """A problem in a scenario, with the element and the place that it concerns."""

    text: str
    element: str
    place: Point | None


class ScenarioProblems(Model):
    """The problems of a scenario."""

    name: str
    problems: list[ScenarioProblem]


class KeptDrawing(Model):
    """A stored drawing: its version, and the problems of the world and of its scenarios."""

    version: str
    problems: list[str]
    notes: list[str]
    scenarios: list[ScenarioProblems]


class ScenarioEntry(Model):
    """A scenario in the list of all scenarios."""

    name: str
    origin: Literal["own", "world"]
    world: str
    robots: int
    people: int
    wrong: str
    owner: str


class PedestrianKind(Model):
    """A type of pedestrian."""

    name: str
    radius: float
    speed: float


class SocialState(Model):
    """A social state that a scenario can give a pedestrian."""

    name: str
    walks: bool
    talks: bool


class FurnitureOutline(Model):
    """The outline of a furniture model."""

    name: str
    radius: float
    polygons: list[list[Point]]
    discs: list[list[float]]


class ScenarioRobot(Model):
    """The robot that drives in scenarios."""

    name: str
    radius: float
    outline: list[Point]


class ScenarioParts(Model):
    """All elements of scenarios."""

    types: list[PedestrianKind]
    states: list[SocialState]
    reactions: list[str]
    fields: list[Field]
    things: list[FurnitureOutline]
    robot: ScenarioRobot


class Sentence(Model):
    """A sentence about what an element of a scenario will do."""

    text: str
    element: str


class ScenarioCheck(Model):
    """The problems of a scenario, and sentences about the behaviour of all its elements."""

    problems: list[ScenarioProblem]
    sentences: list[Sentence]


class WorldScenario(ScenarioCheck):
    """A scenario that belongs to a world."""

    name: str
    world: str
    version: str
    content: dict[str, Any]


class Scenario(WorldScenario):
    """A user's scenario."""

    owner: str


class SuiteParts(Model):
    """The records that make up a suite's file, with their fields, by name."""

    records: dict[str, RecordFields]


class SuiteProblem(Model):
    """A problem in a suite, with the key that it concerns."""

    key: str
    text: str


class SuiteCheck(Model):
    """The problems found in a suite, its stages, and the text of its file."""

    problems: list[SuiteProblem]
    stages: list[Stage]
    text: str


class OwnSuite(SuiteCheck):
    """A user's suite."""

    name: str
    version: str
    content: dict[str, Any]
    owner: str


class ReportLine(Model):
    """A line of an import report: a key of a file, and its interpretation."""

    file: str
    key: str
    words: str


class ImportReport(Model):
    """The outcome of an import: a world, scenarios, and the imported and omitted keys."""

    world: str
    scenarios: list[str]
    understood: list[ReportLine]
    dropped: list[ReportLine]


class Content(Model):
    """The content of a file, as plain data or as text, and the version on which it is based, if any."""

    content: dict[str, Any] | str
    version: str = ""


class CheckRequest(Model):
    """The content of a file to check, as plain data or as text."""

    content: dict[str, Any] | str
    name: str = ""


class PreviewRequest(Model):
    """A request for the start of an episode of a suite."""

    content: dict[str, Any]
    stage: str = ""
    episode: int = 0


class GeneratorRequest(RequestBody):
    """A request for a generated map."""

    generator: Text = ""
    parameters: Annotated[dict[str, Any], expect("names and values", lambda value: isinstance(value, dict))] = {}
    seed: Annotated[int, expect("an integer", is_whole)] = 0


class WorldRequest(GeneratorRequest):
    """A request for a generated world."""

    name: Text = ""


def _is_length(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e6


Length = Annotated[float, expect("a number of at least 0", _is_length)]
"""A length in a request, m."""


class EmptyWorldRequest(RequestBody):
    """A request for an empty world; lengths are in m."""

    name: Text = ""
    width: Length = 10.0
    height: Length = 8.0
    resolution: Length = 0.05
    wall: Length = 0.1


class CopyRequest(RequestBody):
    """A request for a copy of a world's map."""

    name: Text = ""
    of: Text = ""


class DrawingRequest(Model):
    """A changed drawing; without ``cells`` the walls do not change."""

    version: str
    zones: list[Zone] = []
    furniture: list[Piece] = []
    cells: str | None = None
