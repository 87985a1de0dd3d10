"""The addresses of everything that has a name."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from agora import __version__
from agora.web import catalogue
from agora.web.own import Own
from agora.web.policies import Policies
from agora.web.settings import Settings


def add_names(app: FastAPI, settings: Settings, own: Own, policies: Policies) -> None:
    """Add the addresses of everything that has a name."""

    @app.get("/api/about")
    def about() -> dict[str, Any]:
        """This server; ``code`` says why planners as code are refused, and is empty where they run."""
        return {"version": __version__, "folder": str(settings.folder), "code": policies.code.refused}

    @app.get("/api/suites")
    def suites() -> list[dict[str, Any]]:
        """All suites with their stages, the own ones, and the own scenarios, each a suite of one episode."""
        return [*catalogue.suites(), *own.all()]

    @app.get("/api/suites/{name}")
    def suite(name: str) -> dict[str, Any]:
        """A suite with its file."""
        return catalogue.suite(name)

    @app.get("/api/planners")
    def planners() -> list[dict[str, Any]]:
        """The own planners that are code, all others and presets, and the own policies, each a preset of the planner ``policy``."""
        return [*policies.code.all(), *catalogue.planners(), *policies.planners()]

    @app.get("/api/kinds")
    def kinds() -> dict[str, Any]:
        """The names of every kind of component."""
        return catalogue.kinds()

    @app.get("/api/kinds/{kind}/{name}")
    def component(kind: str, name: str) -> dict[str, Any]:
        """A component with its fields; ``own:NAME`` is a planner that was brought along as code."""
        if kind == "planners" and name.startswith("own:"):
            return policies.code.component(name.removeprefix("own:"))
        return catalogue.component(kind, name)

    @app.get("/api/robots")
    def robots() -> list[dict[str, Any]]:
        """All robots."""
        return catalogue.robots()

    @app.get("/api/policies")
    def all_policies() -> list[dict[str, Any]]:
        """All policies with their cards, the own ones first."""
        return [*policies.all(), *catalogue.policies()]
