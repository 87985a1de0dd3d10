"""The parameters of the graph: the launch arguments, read from the parameter server in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import rosgraph
import rospy

from agora.node_logic.arguments import Arguments, arguments_of


class Parameters(Arguments):
    """The launch arguments, under their names in the launch file. The task generator reads the arguments for modes, robots and
    crowds.

    ``seed``, ``periods``, ``synchronous`` and ``suite`` are read at the start, and all others at each reset.
    """

    @staticmethod
    def read(before: Mapping[str, Any] | None = None) -> tuple[Parameters, dict[str, Any], dict[str, Any]]:
        """Return the parameters in the graph's namespace, the node's private parameters, and all parameters as stored on the
        server.

        Args:
            before: the parameters as previously stored on the server; some of them may have lost their effect when modes were
                switched.

        Raises:
            InputError: a value has the wrong type, or a parameter has no effect in combination with the others.
        """
        # not rospy.get_param: for the root, it returns only the parameters that rospy itself has cached
        tree = rosgraph.Master(rospy.get_name()).getParam(rospy.get_namespace())
        private = tree.get(rospy.get_name().rpartition("/")[2], {})
        return Parameters.of(tree, before), private if isinstance(private, dict) else {}, tree

    @staticmethod
    def of(tree: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> Parameters:
        """Return the parameters from plain values (`agora.node_logic.arguments.arguments_of`).

        Raises:
            InputError: as for `read`.
        """
        return arguments_of(tree, Parameters, "parameters", before)
