"""What nodes import, for the process whose copies become nodes: see `tests.ros.prepared`."""

# ruff: noqa: F401

import agora_bringup.descriptions
import agora_evaluation.recorder
import agora_map_generator.server
import agora_navigation.node
import agora_pedsim.crowd_node
import agora_pedsim.plugin_node
import agora_ros.life
import agora_simulators.node
import agora_task_generator.server
import scipy.ndimage
import tf2_ros
from numba.core.registry import cpu_target

cpu_target.target_context.refresh()  # what Numba sets up before its first kernel
