"""The interfaces that component authors implement, one module per kind of component.

A component is a frozen dataclass whose fields are its parameters; components are registered through entry points
(`agora.registry`). Units are SI. Unless stated otherwise, coordinates are in the map frame; headings are radians in (-pi, pi].
Inputs are read-only: copy whatever you need to keep.
"""

from agora.draft.people import People, Person
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.interfaces.backend import AnySimulator, Backend, Terms, WholeSimulator
from agora.interfaces.behaviour import AttachedBehaviour, Behaviour
from agora.interfaces.card import ROBOT, Card, Oracle, Range, Situation, card
from agora.interfaces.channel import Bound, Channel, Field, Offer, Provider, Reading, Setting, Source
from agora.interfaces.costmap_layer import CostmapLayer
from agora.interfaces.crowd_model import AnyCrowdModel, CompiledCrowdModel, CrowdDeclaration, CrowdModel, CrowdRecord, CrowdScene
from agora.interfaces.encoding import Encoding
from agora.interfaces.executor import AnyJob, Done, Event, Executor, Finished, Lost, Progress, Waiting, Watch, Work
from agora.interfaces.global_planner import GlobalPlanner, PathRequest
from agora.interfaces.interplanner import Guidance, InterPlanner
from agora.interfaces.map_generator import MapGenerator
from agora.interfaces.metric import Compared, Direction, Metric, metric
from agora.interfaces.module import Module, ResetPlan
from agora.interfaces.network import Network, Shape
from agora.interfaces.observation import Costmap, Observation, SemanticMaps, SemanticWindow
from agora.interfaces.obstacles_mode import ObstaclesMode
from agora.interfaces.planner import NOTES, SEEN, Answer, BatchPlanner, Declaration, Label, Memory, Planner
from agora.interfaces.predictor import Prediction, Predictor, PredictorDeclaration
from agora.interfaces.reward import Fact, Passed, Rewarding, Transition
from agora.interfaces.robots_mode import RobotsMode
from agora.interfaces.simulator import Ability, Bodies, Simulator
from agora.interfaces.span import Span
from agora.interfaces.trainer import Savable, Trainer, TrainingRun
from agora.interfaces.world_source import DrawnPlaces, WorldSource
from agora.robots.limits import Limits
from agora.world.tracks import Tracks

__all__ = [
    "Ability",
    "Answer",
    "AnyCrowdModel",
    "AnyJob",
    "AnySimulator",
    "AttachedBehaviour",
    "Backend",
    "BatchPlanner",
    "Behaviour",
    "Bodies",
    "Bound",
    "Card",
    "Channel",
    "Compared",
    "CompiledCrowdModel",
    "Costmap",
    "CostmapLayer",
    "CrowdDeclaration",
    "CrowdModel",
    "CrowdRecord",
    "CrowdScene",
    "Declaration",
    "Direction",
    "Done",
    "DrawnPlaces",
    "Encoding",
    "Event",
    "Executor",
    "Fact",
    "Field",
    "Finished",
    "GlobalPlanner",
    "Guidance",
    "InterPlanner",
    "Label",
    "Limits",
    "Lost",
    "MapGenerator",
    "Memory",
    "Metric",
    "Module",
    "NOTES",
    "Network",
    "Observation",
    "ObstaclesMode",
    "Passed",
    "Offer",
    "Oracle",
    "PathRequest",
    "People",
    "Person",
    "ResetPlan",
    "Planner",
    "Prediction",
    "Predictor",
    "PredictorDeclaration",
    "Progress",
    "Provider",
    "ROBOT",
    "Range",
    "Reading",
    "Rewarding",
    "RobotsMode",
    "SEEN",
    "Savable",
    "SemanticMaps",
    "SemanticWindow",
    "Setting",
    "Shape",
    "Simulator",
    "Situation",
    "Source",
    "Span",
    "Surroundings",
    "Task",
    "Terms",
    "Tracks",
    "Trainer",
    "TrainingRun",
    "Transition",
    "Waiting",
    "Watch",
    "WholeSimulator",
    "Work",
    "WorldSource",
    "card",
    "metric",
]
