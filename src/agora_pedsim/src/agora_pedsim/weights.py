"""Sets crowd model weights through dynamic_reconfigure, under the names used in Arena's fork of pedsim_ros."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import rospy
from dynamic_reconfigure.server import Server

from agora.node_logic.crowd import Crowd
from agora_pedsim.cfg import PedsimSimulatorConfig

if TYPE_CHECKING:
    from agora_pedsim.crowd_node import CrowdNode

_FIELDS = {
    "force_obstacle": "obstacle_factor",
    "sigma_obstacle": "obstacle_sigma",
    "force_social": "social_factor",
    "force_group_gaze": "gaze_factor",
    "force_group_coherence": "coherence_factor",
    "force_group_repulsion": "repulsion_factor",
}


class ForceWeights:
    """The weights of crowd models. A change applies to every model that has the weight, until the next episode; a weight that no
    model has is logged.
    """

    def __init__(self, node: CrowdNode) -> None:
        self._node, self._last = node, dict[str, Any]()
        self._server = Server(PedsimSimulatorConfig, self._on_change)

    def _on_change(self, config: Any, _: int) -> Any:
        values = {key: value for key, value in config.items() if key != "groups"}
        changed = {key: value for key, value in values.items() if self._last and self._last.get(key) != value}
        self._last = values
        if "paused" in changed:
            self._node.pause(changed.pop("paused"))
        wanted = {_FIELDS[key]: value for key, value in changed.items() if key in _FIELDS}
        for key in changed.keys() - _FIELDS.keys():
            rospy.logwarn("crowd: %s has no effect, because no crowd model has this parameter", key)
        if wanted:
            self._node.change("dynamic_reconfigure", lambda crowd: _weigh(crowd, wanted))
        return config


def _weigh(crowd: Crowd, wanted: dict[str, float]) -> None:
    models, used = [], set[str]()
    for model in crowd.models:
        has = {field.name for field in dataclasses.fields(model)} & wanted.keys()
        models.append(dataclasses.replace(model, **{name: wanted[name] for name in has}))
        used |= has
    if wanted.keys() - used:
        names = ", ".join(type(model).__name__ for model in crowd.models)
        rospy.logwarn("crowd: %s has no %s; see agora list crowd_models", names, ", ".join(sorted(wanted.keys() - used)))
    if used:
        crowd.set_models(models)
