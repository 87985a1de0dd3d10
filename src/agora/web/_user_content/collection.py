"""The worlds, scenarios and suites in a server's folder; scenarios and suites share one namespace."""

from __future__ import annotations

from typing import Any

from agora.errors import InputError, UnknownNameError
from agora.tasks.suite_file import OWN
from agora.web._user_content.scenarios import Scenarios
from agora.web._user_content.suites import Suites
from agora.web._user_content.worlds import Worlds
from agora.web.settings import Settings


class UserContent:
    """The worlds, scenarios and suites of a server.

    Args:
        settings: settings of the server.

    Attributes:
        worlds: worlds of the server.
        scenarios: scenarios of users and of worlds.
        suites: users' suites.
    """

    def __init__(self, settings: Settings) -> None:
        self.worlds = Worlds(settings.worlds)
        self.scenarios, self.suites = Scenarios(settings.scenarios, self.worlds), Suites(settings.folder)
        self.scenarios.store.others, self.suites.store.others = [self.suites.store], [self.scenarios.store]

    def all(self) -> list[dict[str, Any]]:
        """Return users' suites, and users' scenarios as suites of one episode, in the format used by the front end."""
        return [*self.suites.all(), *self.scenarios.suites()]

    def suite(self, name: str) -> str:
        """Return an argument for `agora.tasks.suite.load_suite`: the file of a user's suite or scenario, or the name itself.

        Raises:
            UnknownNameError: there is no user's suite or scenario with this name. InputError: the name is a path, or is ambiguous.
        """
        if name.startswith(OWN):
            own = name.removeprefix(OWN)
            suites, scenarios = self.suites.store.files(), self.scenarios.store.files()
            if own in suites and own in scenarios:
                raise InputError(f"suite: {name} names both a suite and a scenario; rename one of the files")
            if own not in suites and own not in scenarios:
                raise UnknownNameError("suite or scenario of yours", own, {**suites, **scenarios})
            return str((suites | scenarios)[own])
        if "/" in name or name.endswith((".json", ".yaml", ".yml")):
            raise InputError(f"suite: expected a name, or own/NAME of one of your suites or scenarios; got {name!r}")
        return name
