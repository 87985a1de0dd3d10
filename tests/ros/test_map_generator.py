"""The map generator's node: what it says of a map, new maps, maps on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rospy
from agora_ros.conversions import from_map, to_map
from nav_msgs.msg import MapMetaData, OccupancyGrid
from nav_msgs.srv import GetMap
from std_msgs.msg import String
from tests.suites import write_world

from agora.maps.grid import Map
from agora.maps.place import read_place
from agora.maps.world3d.export import KINDS
from agora.tasks.generator import TaskGenerator
from agora.testing.guard import identical
from agora_msgs.msg import Episode, MapObstacles
from agora_msgs.msg import Map as MapMessage
from agora_msgs.srv import GetDistanceMap, NewMap, SaveMap, SetMap


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return write_world(tmp_path / "crooked")


@pytest.fixture
def node(graph: Any, launch_node: Any, world: Path) -> Any:
    graph.param("map_file", str(world))
    return launch_node("agora_map_generator", "map_generator")


def crooked() -> Map:
    """7 x 5 cells of 0.3 m with a wall, an unknown cell and a disc; corner at (-1.5, 2.25)."""
    occupied, unknown = np.zeros((5, 7), bool), np.zeros((5, 7), bool)
    occupied[:, 0], unknown[4, 6] = True, True
    return Map("bent", 0.3, (-1.5, 2.25), occupied, unknown, discs=np.array([[-0.45, 2.7, 0.1]]))


def test_the_map_of_the_world_is_there_for_whoever_comes_late(graph: Any, node: Any, world: Path) -> None:
    grid = graph.hear("map", OccupancyGrid).wait(1)[0]
    place = read_place(world)
    assert (grid.info.height, grid.info.width) == place.map.shape == (92, 136)
    assert float(str(np.float32(grid.info.resolution))) == 0.1
    assert (grid.info.origin.position.x, grid.info.origin.position.y, grid.info.origin.orientation.w) == (-4.3, 2.1, 1.0)
    cells = np.array(grid.data).reshape(92, 136)
    assert np.array_equal(cells == 100, place.map.occupied) and grid.header.frame_id == "map"
    assert graph.hear("map_metadata", MapMetaData).wait(1)[0].width == 136
    assert identical(from_map(graph.hear("map_generator/exact", MapMessage).wait(1)[0]), place.map)
    assert graph.call("static_map", GetMap).map.data == grid.data


def test_a_map_that_is_set_is_drawn_with_its_shapes_and_counted_in_cells(graph: Any, node: Any) -> None:
    signals = graph.hear("signal_new_distance_map", String)
    grids = graph.hear("map", OccupancyGrid)
    grids.wait(1)
    place = crooked()
    assert graph.call("map_generator/set_map", SetMap, to_map(place)).success
    grid = grids.wait(2)[1]
    cells = np.array(grid.data).reshape(5, 7)
    assert [tuple(cell) for cell in np.argwhere(cells == 100)] == [(0, 0), (1, 0), (1, 3), (2, 0), (3, 0), (4, 0)]
    assert [tuple(cell) for cell in np.argwhere(cells == -1)] == [(4, 6)]
    assert identical(from_map(graph.hear("map_generator/exact", MapMessage).wait(1)[0]), place)
    answer = graph.call("distance_map", GetDistanceMap)
    assert answer.info.width == 7 and answer.header.frame_id == "map"
    assert np.array(answer.data).reshape(5, 7).tolist() == [
        [-1, 0, 0, 0, 0, 1, 2],
        [-1, 0, 0, -1, 0, 1, 2],
        [-1, 0, 0, 0, 0, 1, 1],
        [-1, 0, 1, 1, 1, 0, 0],
        [-1, 0, 1, 2, 1, 0, -1],
    ]
    signals.wait(1)
    assert graph.call("map_generator/set_map", SetMap, to_map(place)).success
    refused = graph.call("map_generator/set_map", SetMap, MapMessage(rows=2, columns=2, cells=b"\0"))
    assert not refused.success and len(grids) == 2


def test_new_maps_come_by_name_with_parameters(graph: Any, node: Any, wait_until: Any) -> None:
    asked, exact = graph.publisher("request_new_map", String), graph.hear("map_generator/exact", MapMessage)
    exact.wait(1)
    for count, (text, name) in enumerate(
        {
            "": "barn-1",
            "canteen(width=11.0, height=9.5, obstacle_num=1)": "canteen-2",
            "rosnav(map_type=outdoor, obstacle_num=4)": "rosnav_outdoor-3",
        }.items(),
        2,
    ):
        asked.publish(text)
        assert exact.wait(count)[-1].name == name
    obstacles = graph.hear("map_obstacles", MapObstacles).wait(1)[0]
    assert len(obstacles.data) == exact[-1].rows * exact[-1].columns
    asked.publish("cantean")
    wait_until(lambda: "no map generator called 'cantean'; did you mean 'canteen'?" in node.log, "a word about the name")
    answer = graph.call("map_generator/new_map", NewMap, "canteen(width=11.0, height=9.5, obstacle_num=1)", 6)
    assert (
        answer.success
        and answer.map == graph.call("map_generator/new_map", NewMap, "canteen(width=11.0, height=9.5, obstacle_num=1)", 6).map
    )
    assert graph.hear("map_obstacles", MapObstacles).wait(1)[0].obstacles[0].model_name
    refused = graph.call("map_generator/new_map", NewMap, "barn(fill=2)", 0)
    assert not refused.success and "fill" in refused.message
    assert "Traceback" not in node.log


def test_a_place_is_saved_with_furniture_and_in_three_dimensions(graph: Any, node: Any, tmp_path: Path) -> None:
    made = graph.call("map_generator/new_map", NewMap, "office(width=14.0, height=12.0, obstacle_num=6)", 2)
    inside = tmp_path / "inside"
    target = inside / "saved"
    graph.param("map_save_dir", str(inside))
    answer = graph.call("map_generator/save", SaveMap, "saved", sorted(KINDS), 2.0)
    assert answer.success, answer.message
    names = {Path(file).name for file in answer.files}
    assert {"map.yaml", "map.png", "furniture.json", "saved.world", "saved.glb", "saved.unity.json", "saved.xml"} <= names
    read = read_place(target)
    assert read.map.size == pytest.approx(from_map(made.map).size) and len(read.furniture) > 0
    refused = graph.call("map_generator/save", SaveMap, str(target), [], 0.0)
    assert not refused.success and "not an empty folder" in refused.message
    refused = graph.call("map_generator/save", SaveMap, str(inside / "other"), ["sfd"], 0.0)
    assert not refused.success and "did you mean 'sdf'?" in refused.message and not (inside / "other").exists()


@pytest.mark.parametrize("folder", ["", "../elsewhere", "saved/../../elsewhere", "{outside}/elsewhere", "link/elsewhere"])
def test_nothing_is_saved_outside_the_folder_that_the_graph_names(graph: Any, node: Any, tmp_path: Path, folder: str) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    graph.param("map_save_dir", str(inside))
    refused = graph.call("map_generator/save", SaveMap, folder.format(outside=outside), [], 0.0)
    assert not refused.success and f"is outside {inside}" in refused.message
    assert not list(outside.iterdir()) and not (tmp_path / "elsewhere").exists()


def test_a_node_that_was_started_again_has_the_map_of_the_episode(graph: Any, node: Any, launch_node: Any) -> None:
    node.kill()
    start = TaskGenerator(world="dynamic_map", seed=4).start(6)
    episode = rospy.Publisher(graph.name("task_generator_server/episode"), Episode, queue_size=1, latch=True)
    graph.ends.append(episode)
    from agora_ros.conversions import to_episode

    from agora_msgs.msg import Robot

    stage = TaskGenerator().stage
    episode.publish(to_episode(start, stage.conditions(), [Robot(name="jackal")], 3))
    launch_node("agora_map_generator", "map_generator")
    heard = graph.hear("map_generator/exact", MapMessage)
    assert heard.wait_for(lambda m: m.name == start.map.name, "the map of the episode").cells == to_map(start.map).cells


def test_a_wrong_map_leaves_the_node_waiting_for_another(graph: Any, launch_node: Any, wait_until: Any) -> None:
    graph.param("map_file", "corridr")
    node = launch_node("agora_map_generator", "map_generator")
    wait_until(
        lambda: "no world called 'corridr'" in node.log and "there is no map until one is set" in node.log, "a word about it"
    )
    with pytest.raises(rospy.ServiceException, match="there is no map yet"):
        graph.call("distance_map", GetDistanceMap)
    assert graph.call("map_generator/set_map", SetMap, to_map(crooked())).success
    assert graph.call("distance_map", GetDistanceMap).info.height == 5
