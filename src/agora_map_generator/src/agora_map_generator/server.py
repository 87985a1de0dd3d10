"""The map generator node, which publishes the current map, generates new maps on request, and saves world folders.

The current map is the map that was set last: by the task generator at a reset, by a request if no episodes are being run, or,
before both, by ``map_file``. A restarted node takes the map from the latched episode. All topics are latched, so late subscribers
receive everything; only the stamps depend on a clock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rospy
from agora_ros.conversions import from_episode, from_map, to_map
from nav_msgs.msg import MapMetaData, OccupancyGrid
from nav_msgs.srv import GetMap, GetMapResponse
from std_msgs.msg import String

from agora.draft.surroundings import Surroundings
from agora.errors import InputError
from agora.maps.generators.arena import parse_generator
from agora.maps.place import Place
from agora.maps.save import whole, write_world
from agora.registry import Named
from agora.seeds import Stream
from agora.tasks.modules.dynamic_map import DynamicMap
from agora.tasks.settings import Settings
from agora.tasks.setup import Setup
from agora.tasks.worlds.generated import Generated
from agora_map_generator.messages import to_distance_map, to_grid, to_metadata, to_obstacles
from agora_msgs.msg import Episode, MapObstacles
from agora_msgs.msg import Map as MapMessage
from agora_msgs.srv import GetDistanceMap, NewMap, NewMapResponse, SaveMap, SaveMapResponse, SetMap, SetMapResponse


class MapGeneratorNode:
    """The ``map_generator`` node.

    Private parameter ``config``: Arena's ``map_generator.yaml``, given as a name in ``configs/map_generator`` or as a path. Graph
    parameters: ``map_file``, ``seed``, and ``map_save_dir``, the only folder to which ``map_generator/save`` writes.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._place: Place | None = None
        self._played = False
        self._number, self._seed = 0, int(rospy.get_param("seed", 0) or 0)
        self._config = str(rospy.get_param("~config", "")) or "default"
        self._grid = rospy.Publisher("map", OccupancyGrid, queue_size=1, latch=True)
        self._metadata = rospy.Publisher("map_metadata", MapMetaData, queue_size=1, latch=True)
        self._exact = rospy.Publisher("map_generator/exact", MapMessage, queue_size=1, latch=True)
        self._obstacles = rospy.Publisher("map_obstacles", MapObstacles, queue_size=1, latch=True)
        self._signal = rospy.Publisher("signal_new_distance_map", String, queue_size=10)
        rospy.Service("map_generator/set_map", SetMap, self._on_set)
        rospy.Service("map_generator/new_map", NewMap, self._on_new)
        rospy.Service("map_generator/save", SaveMap, self._on_save)
        rospy.Subscriber("task_generator_server/episode", Episode, self._on_episode, queue_size=1)
        self._show_first(str(rospy.get_param("map_file", "") or "map_empty"))
        rospy.Service("distance_map", GetDistanceMap, lambda _: self._answer(lambda p: to_distance_map(p.map, rospy.Time.now())))
        rospy.Service("static_map", GetMap, lambda _: self._answer(lambda p: GetMapResponse(to_grid(p.map, rospy.Time.now()))))
        rospy.Subscriber("request_new_map", String, self._on_request, queue_size=10)

    def _show_first(self, map_file: str) -> None:
        """Publish the map of a world, unless another map has been set."""
        try:
            if map_file == "dynamic_map":
                world = self._generated(self._configured(), self._seed, 0)
            else:
                source = Setup(Settings(), world=map_file).stage().world.part
                world = source.world(source.names()[0], Stream(map_file, self._seed, "map"))
        except InputError as error:
            rospy.logerr(f"{error}; there is no map until one is set")
            return
        with self._lock:
            if self._place is None:
                self._show(_place_of(world))

    def _show(self, place: Place) -> None:
        """Make a place the current place, and publish it."""
        now = rospy.Time.now()
        with self._lock:
            self._place = place
            exact = to_map(place.map)
            exact.header.stamp, exact.header.frame_id = now, "map"
            self._metadata.publish(to_metadata(place.map, now))
            self._grid.publish(to_grid(place.map, now))
            self._exact.publish(exact)
            self._obstacles.publish(to_obstacles(place))
            self._signal.publish(place.map.name)

    def _adopt(self, place: Place) -> None:
        """Publish a place, unless it is already the current place."""
        with self._lock:
            if self._place is None or to_map(self._place.map) != to_map(place.map):
                self._show(place)
            elif place.furniture:
                self._place = place
                self._obstacles.publish(to_obstacles(place))

    def _on_set(self, request: Any) -> SetMapResponse:
        try:
            self._adopt(Place(from_map(request.map)))
        except (InputError, ValueError) as error:
            return SetMapResponse(False, str(error))
        return SetMapResponse(True, "")

    def _on_episode(self, episode: Any) -> None:
        self._played = True
        try:
            start, _ = from_episode(episode)
        except InputError as error:
            rospy.logwarn(f"the map stays as it is: {error}")
            return
        self._adopt(Place(start.map, (*start.furniture, *(t.furniture for t in start.things if t.kind == "static"))))

    def _on_request(self, message: Any) -> None:
        if self._played:  # the task generator receives the request too, and begins an episode on another map
            return
        try:
            generator = self._generator(message.data)
            self._number += 1
            self._show(_place_of(self._generated(generator, self._seed, self._number)))
        except InputError as error:
            rospy.logerr(f"request_new_map: {error}; the map stays as it is")

    def _on_new(self, request: Any) -> NewMapResponse:
        try:
            place = _place_of(self._generated(self._generator(request.algorithm), request.seed, 0))
        except InputError as error:
            return NewMapResponse(False, str(error), MapMessage())
        self._show(place)
        return NewMapResponse(True, "", to_map(place.map))

    def _on_save(self, request: Any) -> SaveMapResponse:
        inside = Path(str(rospy.get_param("map_save_dir", "") or "maps")).expanduser().resolve()
        folder = (inside / request.folder).resolve()
        if inside not in folder.parents:
            message = f"folder {request.folder!r}: is outside {inside}; expected a folder in it (parameter map_save_dir)"
            return SaveMapResponse(False, message, [])
        place = self._place
        if place is None:
            return SaveMapResponse(False, "there is no map yet", [])
        try:
            with whole(folder) as part:
                write_world(place, part, request.kinds, height=request.height or 2.5, name=folder.name)
        except InputError as error:
            return SaveMapResponse(False, str(error), [])
        files = sorted(str(file) for file in folder.rglob("*") if file.is_file())
        return SaveMapResponse(True, "", files)

    def _answer(self, make: Callable[[Place], Any]) -> Any:
        place = self._place
        if place is None:
            raise rospy.ServiceException("there is no map yet")
        return make(place)

    def _configured(self) -> Named:
        return DynamicMap(file=self._config).resolved()[0]

    def _generator(self, text: str) -> Named:
        """Return the generator given by a string or, if the string is empty, the configured generator."""
        return parse_generator(text) if text.strip() else self._configured()

    @staticmethod
    def _generated(generator: Named, seed: int, number: int) -> Surroundings:
        """Return place ``number`` from a generator and a seed, as the ``dynamic_map`` module creates it.

        Raises:
            InputError: the generator's parameters cannot be satisfied.
        """
        try:
            source = Generated(generator, number + 1, seed)
        except ValueError as error:
            raise InputError(str(error)) from error
        return source.world(source.names()[number], Stream(generator.name, seed, "map"))


def _place_of(world: Surroundings) -> Place:
    return Place(world.map, world.furniture, world.zones)
