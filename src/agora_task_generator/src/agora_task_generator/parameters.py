"""The parameters of the graph: the launch arguments, read from the parameter server in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import rosgraph
import rospy

from agora.node_logic.arguments import Arguments, arguments_of


class Parameters(Arguments):
    """The launch arguments, of which the task generator reads those of modes, robots and crowds; their names are the launch file's.

    ``seed``, ``periods``, ``synchronous`` and ``suite`` count as they are at the start, the others as they are at each reset.
    """

    @staticmethod
    def read(before: Mapping[str, Any] | None = None) -> tuple[Parameters, dict[str, Any], dict[str, Any]]:
        """The parameters of the graph's namespace, the node's private ones, and all of them as they are on the server.

        Args:
            before: as they were on the server before; of these, one may have lost its effect when modes were switched.

        Raises:
            InputError: a value of another type, or a parameter that has no effect beside the others.
        """
        # not rospy.get_param: of the root it answers with no more than the parameters that rospy itself has cached
        tree = rosgraph.Master(rospy.get_name()).getParam(rospy.get_namespace())
        private = tree.get(rospy.get_name().rpartition("/")[2], {})
        return Parameters.of(tree, before), private if isinstance(private, dict) else {}, tree

    @staticmethod
    def of(tree: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> Parameters:
        """The parameters of plain values (`agora.node_logic.arguments.arguments_of`).

        Raises:
            InputError: as `read`.
        """
        return arguments_of(tree, Parameters, "parameters", before)
