"""Contracts: the rules that every component must follow. Call a contract's check from your own test, for example:

def test_my_planner_keeps_the_contract():
check_planner(MyPlanner())

Each name is imported from its module when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agora.testing.backends import check_backend
    from agora.testing.behaviours import check_behaviour
    from agora.testing.cards import check_card
    from agora.testing.channels import check_channel
    from agora.testing.costmap_layers import check_costmap_layer
    from agora.testing.crowd_models import check_crowd_model
    from agora.testing.encodings import check_encoding
    from agora.testing.errors import ContractError
    from agora.testing.executors import check_executor
    from agora.testing.generators import check_map_generator
    from agora.testing.global_planners import check_global_planner
    from agora.testing.interplanners import check_interplanner
    from agora.testing.metrics import check_metric
    from agora.testing.modules import check_module
    from agora.testing.narrow import check_narrow_places, narrow_places
    from agora.testing.networks import check_network
    from agora.testing.planners import check_bad_input, check_planner
    from agora.testing.predictors import check_predictor
    from agora.testing.rewards import check_reward
    from agora.testing.scenes import Move, observation
    from agora.testing.simulators import check_simulator
    from agora.testing.tasks import check_obstacles_mode, check_robots_mode, check_world_source
    from agora.testing.trainers import check_trainer

__all__ = [
    "ContractError",
    "Move",
    "check_backend",
    "check_bad_input",
    "check_behaviour",
    "check_card",
    "check_channel",
    "check_costmap_layer",
    "check_crowd_model",
    "check_encoding",
    "check_executor",
    "check_global_planner",
    "check_interplanner",
    "check_map_generator",
    "check_metric",
    "check_module",
    "check_obstacles_mode",
    "check_narrow_places",
    "check_network",
    "check_planner",
    "check_predictor",
    "check_reward",
    "check_robots_mode",
    "check_simulator",
    "check_trainer",
    "check_world_source",
    "narrow_places",
    "observation",
]

_HOMES = {
    "ContractError": "agora.testing.errors",
    "Move": "agora.testing.scenes",
    "check_backend": "agora.testing.backends",
    "check_bad_input": "agora.testing.planners",
    "check_behaviour": "agora.testing.behaviours",
    "check_card": "agora.testing.cards",
    "check_channel": "agora.testing.channels",
    "check_costmap_layer": "agora.testing.costmap_layers",
    "check_crowd_model": "agora.testing.crowd_models",
    "check_encoding": "agora.testing.encodings",
    "check_executor": "agora.testing.executors",
    "check_global_planner": "agora.testing.global_planners",
    "check_interplanner": "agora.testing.interplanners",
    "check_map_generator": "agora.testing.generators",
    "check_metric": "agora.testing.metrics",
    "check_module": "agora.testing.modules",
    "check_narrow_places": "agora.testing.narrow",
    "check_network": "agora.testing.networks",
    "check_obstacles_mode": "agora.testing.tasks",
    "check_planner": "agora.testing.planners",
    "check_predictor": "agora.testing.predictors",
    "check_reward": "agora.testing.rewards",
    "check_robots_mode": "agora.testing.tasks",
    "check_simulator": "agora.testing.simulators",
    "check_trainer": "agora.testing.trainers",
    "check_world_source": "agora.testing.tasks",
    "narrow_places": "agora.testing.narrow",
    "observation": "agora.testing.scenes",
}


def __getattr__(name: str) -> Any:
    """Import one of the names in ``__all__``.

    Raises:
        AttributeError: the name is unknown.
    """
    if name not in _HOMES:
        raise AttributeError(f"module 'agora.testing' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    """Return the names in ``__all__`` in addition to the existing ones."""
    return sorted({*globals(), *__all__})
