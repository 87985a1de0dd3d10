"""What the author of a component reads: one file for each kind.

A component is a frozen dataclass: its fields are its parameters, and one entry point makes it known (`agora.registry`).
Units are SI, the frame is the map's unless said otherwise, headings are radians in (-pi, pi]. What is given is read-only: copy what
you keep.
"""

from agora.interfaces.behaviour import AttachedBehaviour, Behaviour
from agora.interfaces.costmap_layer import CostmapLayer
from agora.interfaces.crowd_model import AnyCrowdModel, CompiledCrowdModel, CrowdModel, CrowdScene
from agora.interfaces.global_planner import GlobalPlanner
from agora.interfaces.interplanner import Guidance, InterPlanner
from agora.interfaces.map_generator import MapGenerator
from agora.interfaces.observation import Costmap, Need, Observation, SemanticMaps, SemanticWindow, Tracks
from agora.interfaces.planner import NOTE, NOTES, SEEN, BatchPlanner, Label, Memory, Planner, Span
from agora.interfaces.simulator import Ability, Bodies, Simulator
from agora.robots.limits import Limits

__all__ = [
    "Ability",
    "AnyCrowdModel",
    "AttachedBehaviour",
    "BatchPlanner",
    "Behaviour",
    "Bodies",
    "CompiledCrowdModel",
    "Costmap",
    "CostmapLayer",
    "CrowdModel",
    "CrowdScene",
    "GlobalPlanner",
    "Guidance",
    "InterPlanner",
    "Label",
    "Limits",
    "MapGenerator",
    "Memory",
    "NOTE",
    "NOTES",
    "Need",
    "Observation",
    "Planner",
    "SEEN",
    "SemanticMaps",
    "SemanticWindow",
    "Simulator",
    "Span",
    "Tracks",
]
