"""What the author of a component reads: one file for each kind.

A component is a frozen dataclass: its fields are its parameters, and one entry point makes it known (`agora.registry`).
Units are SI, the frame is the map's unless said otherwise, headings are radians in (-pi, pi]. What is given is read-only: copy what
you keep.
"""

from agora.interfaces.behaviour import AttachedBehaviour, Behaviour
from agora.interfaces.channel import Channel, Field, Reading, Sensor
from agora.interfaces.costmap_layer import CostmapLayer
from agora.interfaces.crowd_model import AnyCrowdModel, CompiledCrowdModel, CrowdDeclaration, CrowdModel, CrowdRecord, CrowdScene
from agora.interfaces.global_planner import GlobalPlanner
from agora.interfaces.interplanner import Guidance, InterPlanner
from agora.interfaces.map_generator import MapGenerator
from agora.interfaces.observation import Costmap, Observation, SemanticMaps, SemanticWindow, Tracks
from agora.interfaces.planner import NOTES, SEEN, Answer, BatchPlanner, Declaration, Label, Memory, Planner
from agora.interfaces.simulator import Ability, Bodies, Simulator
from agora.interfaces.span import Span
from agora.robots.limits import Limits

__all__ = [
    "Ability",
    "Answer",
    "AnyCrowdModel",
    "AttachedBehaviour",
    "BatchPlanner",
    "Behaviour",
    "Bodies",
    "Channel",
    "CompiledCrowdModel",
    "Costmap",
    "CostmapLayer",
    "CrowdDeclaration",
    "CrowdModel",
    "CrowdRecord",
    "CrowdScene",
    "Declaration",
    "Field",
    "GlobalPlanner",
    "Guidance",
    "InterPlanner",
    "Label",
    "Limits",
    "MapGenerator",
    "Memory",
    "NOTES",
    "Observation",
    "Planner",
    "Reading",
    "SEEN",
    "SemanticMaps",
    "SemanticWindow",
    "Sensor",
    "Simulator",
    "Span",
    "Tracks",
]
