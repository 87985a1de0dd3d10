"""Names as ROS accepts them."""

from __future__ import annotations

from typing import Any

import pytest
import rospy
from agora_ros.names import ros_name


@pytest.mark.parametrize(
    ("name", "expected"), [("robot with spaces", "robot_with_spaces"), ("2nd", "r_2nd"), ("_x", "r__x"), ("jackal", "jackal")]
)
def test_a_name_becomes_one_that_ros_accepts(name: str, expected: str) -> None:
    assert ros_name(name) == expected


def test_a_test_begins_with_an_empty_namespace(graph: Any) -> None:
    assert not rospy.has_param(graph.namespace)
    graph.param("episodes", 2)
    assert rospy.get_param(f"{graph.namespace}/episodes") == 2
