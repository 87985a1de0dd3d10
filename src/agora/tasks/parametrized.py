"""Reads Arena 3.0's parametrized files unchanged: XML files that give the number of obstacles of each model per reset.

The root element is ``random``; its children ``static``, ``interactive`` and ``dynamic`` contain an ``obstacle`` element for each
entry. An entry's ``name``, ``min``, ``max``, ``type`` and ``model`` are attributes or sub-elements. Alternatively, all entries are
in one of these three children; entries of another kind are then named ``interactive`` or ``dynamic`` instead of ``obstacle``,
because Arena's own reader looks for these names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from agora.errors import InputError, nearest
from agora.maps.furniture import MODELS
from agora.tasks.population import MOST, Kind, pedestrian_type
from agora.xml_tree import Element, tree_of_xml
from agora.yaml_tree import read_text, value_text

_KINDS: tuple[Kind, ...] = ("static", "interactive", "dynamic")
_KEYS = ("name", "min", "max", "type", "model")


@dataclass(frozen=True)
class ModelCount:
    """An entry, which requests ``min`` to ``max`` obstacles of one model.

    Attributes:
        kind: static or interactive furniture, or pedestrians (dynamic).
        name: name of the entry; not used.
        min: minimum number.
        max: maximum number.
        model: model of the furniture, or the pedestrians' looks.
        type: type of the pedestrians, such as "adult" or "child"; not used for furniture.
    """

    kind: Kind
    name: str
    min: int
    max: int
    model: str
    type: str


def read_parametrized(path: str | Path) -> tuple[ModelCount, ...]:
    """Read a parametrized file.

    Raises:
        InputError: the file cannot be read or does not have this format; the message lists every problem with its file, line and
            element.
    """
    root = tree_of_xml(read_text(path), str(path))
    reader = _Reader(str(path))
    entries = reader.root(root)
    if reader.problems:
        raise InputError("\n".join(reader.problems))
    return tuple(entries)


class _Reader:
    """Converts elements to entries, and collects all problems."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.problems: list[str] = []

    def wrong(self, element: Element, message: str) -> None:
        self.problems.append(f"{self.where}:{element.line}: <{element.tag}>: {message}")

    def root(self, root: Element) -> list[ModelCount]:
        if root.tag != "random":
            self.wrong(root, "expected the root element <random>")
            return []
        self.empty(root, ())
        found = []
        for section in root.children:
            if section.tag not in _KINDS:
                self.wrong(section, f"unknown element; {nearest(section.tag, _KINDS)}")
                continue
            self.empty(section, ())
            for element in section.children:
                found.append(self.entry(element, section.tag))
        return [entry for entry in found if entry is not None]

    def empty(self, element: Element, attributes: tuple[str, ...]) -> None:
        """Make sure that an element contains only elements and known attributes."""
        if element.text.strip():
            self.wrong(element, f"expected elements, got the text {value_text(element.text.strip())}")
        for name in element.attributes:
            if name not in attributes:
                self.wrong(element, f"unknown attribute {name!r}; {nearest(name, attributes)}")

    def entry(self, element: Element, kind: str) -> ModelCount | None:
        before = len(self.problems)
        if element.tag not in ("obstacle", *_KINDS):
            self.wrong(element, f"unknown element; {nearest(element.tag, ('obstacle', *_KINDS))}")
            return None
        kind = kind if element.tag == "obstacle" else element.tag
        self.empty(element, _KEYS)
        values = {key: (element, text) for key, text in element.attributes.items()}
        for part in element.children:
            if part.tag not in _KEYS:
                self.wrong(part, f"unknown element; {nearest(part.tag, _KEYS)}")
            elif part.tag in values:
                self.wrong(part, f"{part.tag} occurs twice")
            elif part.children or part.attributes:
                self.wrong(part, "expected only text")
            else:
                values[part.tag] = (part, part.text.strip())
        for key in ("min", "max", "model"):
            if key not in values:
                self.wrong(element, f"expected {key}, as an element or an attribute, got nothing")
        least, most = self.number(values, "min"), self.number(values, "max")
        if least is not None and most is not None and least > most:
            self.wrong(values["min"][0], f"min must be at most max = {most}, got {least}")
        self.names(values, kind)
        if len(self.problems) > before or least is None or most is None:
            return None
        model = values["model"][1]
        type_ = values.get("type", (element, "adult"))[1]
        return ModelCount(kind, values.get("name", (element, model))[1], least, most, model, type_)  # type: ignore[arg-type]

    def number(self, values: dict[str, tuple[Element, str]], key: str) -> int | None:
        if key not in values:
            return None
        element, text = values[key]
        if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) > MOST:
            self.wrong(element, f"{key} must be an integer in [0, {MOST}], got {value_text(text)}")
            return None
        return int(text)

    def names(self, values: dict[str, tuple[Element, str]], kind: str) -> None:
        """Check that the model is a furniture model (for pedestrians: any text), and that the type is a pedestrian type."""
        element, model = values.get("model", (None, ""))
        if element is not None and kind != "dynamic" and model not in MODELS:
            self.wrong(element, f"no furniture model called {value_text(model)}; {nearest(model, MODELS)}")
        if element is not None and not model:
            self.wrong(element, "expected the name of a model, got nothing")
        if kind == "dynamic" and "type" in values:
            try:
                pedestrian_type(values["type"][1])
            except InputError as error:
                self.wrong(values["type"][0], str(error))
