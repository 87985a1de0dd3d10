"""Routes for the catalogue of everything that has a name."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from agora import __version__
from agora.web import _catalogue
from agora.web._schemas.catalogue import About, Component, KindOfComponent, Planner, Policy, Robot, Suite, SuiteFile
from agora.web._user_content.collection import UserContent
from agora.web._user_planners.policies import Policies
from agora.web.settings import Settings


def add_catalogue(app: FastAPI, settings: Settings, own: UserContent, policies: Policies) -> None:
    """Add the routes for the catalogue of everything that has a name."""

    @app.get("/api/about", response_model=About)
    def about() -> dict[str, Any]:
        """This server; ``code`` is the reason why planners uploaded as code are rejected, and is empty if they are allowed."""
        return {"version": __version__, "folder": str(settings.folder), "code": policies.code.refusal}

    @app.get("/api/suites", response_model=list[Suite])
    def suites() -> list[dict[str, Any]]:
        """All suites with their stages, including your suites, and your scenarios, each as a suite with a single episode."""
        return [*_catalogue.suites(), *own.all()]

    @app.get("/api/suites/{name}", response_model=SuiteFile)
    def suite(name: str) -> dict[str, Any]:
        """A suite, including the text of its file."""
        return _catalogue.suite(name)

    @app.get("/api/planners", response_model=list[Planner])
    def planners() -> list[dict[str, Any]]:
        """Your planners uploaded as code, all other planners and presets, and your policies, each as a preset of the ``policy``
        planner.
        """
        return [*policies.code.all(), *_catalogue.planners(), *policies.planners()]

    @app.get("/api/kinds", response_model=dict[str, KindOfComponent])
    def kinds() -> dict[str, Any]:
        """The names of every kind of component."""
        return _catalogue.kinds()

    @app.get("/api/kinds/{kind}/{name}", response_model=Component)
    def component(kind: str, name: str) -> dict[str, Any]:
        """A component with its fields; ``own:NAME`` is a planner uploaded as code."""
        if kind == "planners" and name.startswith("own:"):
            return policies.code.component(name.removeprefix("own:"))
        return _catalogue.component(kind, name)

    @app.get("/api/robots", response_model=list[Robot])
    def robots() -> list[dict[str, Any]]:
        """All robots."""
        return _catalogue.robots()

    @app.get("/api/policies", response_model=list[Policy])
    def all_policies() -> list[dict[str, Any]]:
        """All policies with their cards, your policies first."""
        return [*policies.all(), *_catalogue.policies()]
