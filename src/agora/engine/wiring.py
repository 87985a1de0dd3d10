"""The channels of robots of one kind, sorted so that each channel comes after the channels that it needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from agora.channels.attributes import Attributes
from agora.costmap.layers import attributes_of
from agora.errors import InputError
from agora.interfaces import Channel, CostmapLayer, Provider, Setting
from agora.interfaces.channel import FromSetting, channels_of
from agora.registry import make

ByName = tuple[tuple[str, Provider], ...]
"""Channels under the names by which planners and other channels read them."""


@dataclass(frozen=True)
class Wiring:
    """The channels of robots of one kind; two wirings with the same channels are equal.

    Attributes:
        shown: channels that the planner reads.
        recorded: channels that are measured for a recording; planners do not see them.
        layers: layers that add costs near pedestrians.
        layered: channel with the attributes that the layers read; None if there are no layers.
        order: all channels that are bound, each with the channels that it needs, which come before it.
    """

    shown: ByName
    recorded: ByName
    layers: tuple[CostmapLayer, ...]
    layered: Attributes | None
    order: tuple[tuple[Provider, ByName], ...]

    @staticmethod
    def of(needs: Collection[str | Channel], setting: Setting | None = None, record: Collection[str] = ()) -> Wiring:
        """Return the channels that a planner needs, the recorded channels, and all channels that these depend on.

        If ``needs`` contains a channel with parameters, that channel is used wherever its name occurs. Otherwise, the robot's
        sensor with that name is used or, if there is none, the registered channel.

        Args:
            needs: channels that the planner needs.
            setting: sensors and perception of the robot.
            record: names of channels to record.

        Raises:
            InputError: a channel does not exist, or there is a circular dependency between channels.
        """
        finder = _Finder(channels_of(needs), setting or Setting())
        shown = tuple((name, finder.add(name)) for name in finder.given)
        recorded = tuple((name, finder.add(name)) for name in record)
        layers = tuple(finder.setting.layers)
        layered = Attributes.under(finder.setting, attributes_of(layers)) if layers else None
        if layered is not None:
            finder.add(layered)
        return Wiring(shown, recorded, layers, layered, tuple(finder.order.items()))

    @property
    def tells_of_people(self) -> bool:
        """True if the planner or any channel reads the "pedestrians" channel, which depends on the level of perception."""
        return any(name == "pedestrians" for _, needs in [(None, self.shown), *self.order] for name, _ in needs)

    def with_needs(self, provider: Provider) -> Iterator[Provider]:
        """Yield all channels that a channel needs, and then the channel itself."""
        needs = dict(self.order)
        wanted, todo = {provider}, [provider]
        while todo:
            more = [one for _, one in needs[todo.pop()] if one not in wanted]
            wanted.update(more)
            todo += more
        return (one for one in needs if one in wanted)


class _Finder:
    """Finds channels and sorts them by dependency.

    Args:
        given: channels that the planner reads.
        setting: setting of the robot.

    Attributes:
        order: channels that were added, each with the channels that it needs.
    """

    def __init__(self, given: Mapping[str, Channel | None], setting: Setting) -> None:
        self.given, self.setting = given, setting
        self.order: dict[Provider, ByName] = {}
        self._under_way: list[Provider] = []

    def add(self, need: str | Channel) -> Provider:
        """Add a channel after all channels that it needs."""
        provider = self._find(need)
        if provider in self._under_way:
            circle = " -> ".join(one.channel for one in [*self._under_way, provider])
            raise InputError(f"circular dependency between channels: {circle}")
        if provider not in self.order:
            self._under_way.append(provider)
            needs = channels_of(provider.needs)
            found = tuple((name, self.add(name if one is None else one)) for name, one in needs.items())
            self._under_way.pop()
            self.order[provider] = found
        return provider

    def _find(self, need: str | Channel) -> Provider:
        """Return the channel with a given name, or with given parameters."""
        name, held = (need, None) if isinstance(need, str) else (need.channel, need)
        if held is None:
            held = self.given.get(name) or self.setting.own.get(name)
        part = held if isinstance(held, Provider) else make("channels", name)
        if isinstance(part, FromSetting):
            return part.from_setting(held, self.setting)
        if not isinstance(part, Provider) or (held is not None and held is not part):
            raise InputError(f"channel {name}: expected an object with needs, fields and bind, got {type(held or part).__name__}")
        return part
