"""Schemas of live episodes, previews and the state of a server."""

from __future__ import annotations

from typing import Literal

from agora.web._live.episode import LiveForm
from agora.web._schemas.base import Extent, Model, Point, Pose


class HealthReport(Model):
    """All problems of a server; empty if it is healthy."""

    problems: list[str]


class LiveEpisode(Model):
    """The options of a live episode."""

    suite: str
    planner: str
    stage: str
    episode: int
    seed: int | None
    drive: bool
    label: str


class Live(Model):
    """A live episode; the last three keys are set once the episode runs."""

    id: str
    owner: str
    state: Literal["starting", "running", "paused", "ended", "failed"]
    watchers: int
    form: LiveEpisode
    title: str
    message: str
    held: bool = False
    speed: float = 1.0
    episode: int = 0


LiveRequest = LiveForm
"""A request for a live episode."""


class Plan(Model):
    """A map: an image of its cells as a data URL (empty if there is none), its extent, and its shapes."""

    cells: str
    extent: Extent = (0.0, 0.0, 0.0, 0.0)
    segments: list[Extent]
    discs: list[Pose]
    polygons: list[list[Point]]


class Palettes(Model):
    """All colours by name, for light and dark pages."""

    light: dict[str, str]
    dark: dict[str, str]


class Body(Model):
    """The shape of a robot, and its last goal."""

    radius: float
    outline: list[Point]
    goal: list[float]


class SceneLidar(Model):
    """The pose of a lidar in the robot's frame, the angle of the first beam, the angular step, and the maximum range."""

    pose: Pose
    angles: tuple[float, float]
    range: float


class SceneDoor(Model):
    """The ends and the thickness of a moving door."""

    ends: list[Point]
    thickness: float


class Scene(Body):
    """The surroundings of an episode."""

    title: str
    map: Plan
    extent: Extent
    others: list[Body]
    lidar: SceneLidar | None
    door: SceneDoor | None
    tolerance: float
    colours: Palettes
    states: list[tuple[str, str]]
    names: list[str]
    control: float
    drive: bool


class PreviewPerson(Model):
    """A pedestrian at the start of an episode."""

    id: int
    state: int
    x: float
    y: float
    heading: float
    radius: float


class Preview(Model):
    """The start of an episode; ``later`` counts the pedestrians that arrive later."""

    scene: Scene
    episode: int
    count: int
    timeout: float
    robots: list[Pose]
    people: list[PreviewPerson]
    ways: list[list[Point]]
    later: int
