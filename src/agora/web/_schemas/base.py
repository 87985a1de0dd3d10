"""The base of all schemas, and the route class that documents its response with a schema.

A response is sent as returned by the route's function, with the keys in the same order and without a second pass over large data.
The model describes the response in ``/api/docs`` and in the types used by the front end. The tests of `agora.web` check every
response against its model.
"""

from __future__ import annotations

from collections.abc import Callable
from types import GenericAlias
from typing import Annotated, Any

from fastapi import Response
from fastapi.datastructures import Default, DefaultPlaceholder
from fastapi.routing import APIRoute
from pydantic import BaseModel, BeforeValidator, ConfigDict, GetJsonSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, PydanticCustomError

ALL_KEYS = ConfigDict(json_schema_serialization_defaults_required=True)
"""Configuration of a model that contains dataclasses; a response has all of their keys."""

Point = tuple[float, float]
"""A position: x and y, m."""

Pose = tuple[float, float, float]
"""A position and a heading: x and y, m, and rad."""

Extent = tuple[float, float, float, float]
"""Left, bottom, right and top, m."""


def expect(words: str, fits: Callable[[Any], bool]) -> BeforeValidator:
    """Return a validator for a value in a request; its error message reads like ``expected a string, got 3``.

    Args:
        words: description of the values that are expected.
        fits: function that returns whether a value is one of them.
    """

    def check(value: Any) -> Any:
        if not fits(value):
            raise PydanticCustomError(EXPECTED, "expected {words}, got {value}", {"words": words, "value": repr(value)})
        return value

    return BeforeValidator(check)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)


EXPECTED = "expected"
"""Type of the errors that `expect` raises."""

Text = Annotated[str, expect("a string", lambda value: isinstance(value, str))]
"""A string in a request."""


class Model(BaseModel):
    """A JSON object with known keys; keys with a default may be missing."""

    model_config = ConfigDict(extra="forbid")


class OpenModel(BaseModel):
    """A JSON object that may also have other keys."""

    model_config = ConfigDict(extra="allow")


class RequestBody(BaseModel):
    """The body of a request; unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore")


class ErrorMessage(Model):
    """The reason why a request was rejected or failed."""

    error: str


class Conflict(ErrorMessage):
    """The rejection of a change because of a conflicting change; ``present`` is the current content."""

    present: dict[str, Any]


CONFLICT: dict[int | str, dict[str, Any]] = {409: {"model": Conflict}}
"""Responses of a route that rejects conflicting changes."""

_INFERRED = Default(None)


class Documented:
    """Annotation for a type whose JSON schema is that of a model; it neither checks nor changes values.

    Args:
        model: model that describes the values.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of the model, taken from a list of the model, because the schema of a single model would not have a
        name in the document.
        """
        several: Any = GenericAlias(list, (self.model,))
        items: dict[str, Any] = handler(TypeAdapter(several).core_schema)["items"]
        return items


class DocumentedRoute(APIRoute):
    """A route whose ``response_model`` describes the response, which is sent as the function returns it.

    Args:
        path: path of the route.
        endpoint: function that handles requests.
        response_model: model of the response.
        others: other arguments of `fastapi.routing.APIRoute`.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], *, response_model: Any = _INFERRED, **others: Any) -> None:
        if response_model is not None and not isinstance(response_model, DefaultPlaceholder):
            response_model = Annotated[Any, Documented(response_model)]
        super().__init__(path, endpoint, response_model=response_model, **others)


def request_body(model: type[BaseModel]) -> dict[str, Any]:
    """Return the description of a body that the route's function reads itself, for ``openapi_extra``."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": model.model_json_schema()}}}}


def file_response(*media: str) -> dict[str, Any]:
    """Return the arguments for a route that sends a file with one of several media types."""
    content: dict[str, Any] = {one: {} for one in media or ("application/octet-stream",)}
    return {"response_class": Response, "responses": {200: {"content": content}}}
