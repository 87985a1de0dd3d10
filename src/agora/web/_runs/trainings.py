"""The training runs that users can request: the training configurations included in Agora, with changed fields, and their forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agora.config import build, dump, load, parse, plain
from agora.errors import InputError, UnknownNameError
from agora.extras import lacking
from agora.files import write_whole
from agora.learning.card import card_names, load_policy_card
from agora.learning.run import RECORD
from agora.learning.training import Training, check_training, load_training, training_names
from agora.ranges import NotNegative
from agora.share import folder
from agora.web import _catalogue
from agora.web._file_names import check_name
from agora.web._user_planners.policies import OWN, Policies

_SHOWN = ("name", "label", "method", "planner", "suite", "stage", "validation", "test", "stages", "cannot")
FREE = ("method", "cannot")
"""Fields that accept any text; all other fields are references, which must not be files."""


@dataclass(frozen=True)
class TrainingForm:
    """A request for a training run.

    Attributes:
        training: name of a training configuration included in Agora.
        changes: changed field values by dotted name, such as ``trainer.steps``; a string that begins with [ or { is read as YAML.
        seeds: seeds to train with; if empty, the seeds of the configuration.
        minutes: time after which training with each seed stops, min; the resulting policy is still tested.
    """

    training: str
    changes: dict[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    minutes: NotNegative | None = None


class Trainings:
    """The training configurations that users can request.

    Args:
        policies: policies of the server.
        suite: function that converts the name of a suite to an argument of `agora.tasks.suite.load_suite`.
    """

    def __init__(self, policies: Policies, suite: Callable[[str], str]) -> None:
        self._policies, self._suite = policies, suite

    def all(self) -> list[dict[str, Any]]:
        """Return a list of all training configurations, each with the reason why it cannot run on this machine, if any. No modules
        are imported for this.
        """
        absent, suites = lacking(("learning",)), {one["name"]: one["missing"] for one in _catalogue.suites()}
        return [_list_entry(name, absent, suites) for name in training_names()]

    def get(self, name: str) -> dict[str, Any]:
        """Return a training configuration with its fields; the fields' defaults are the configuration's values.

        Raises:
            UnknownNameError: the configuration is unknown. InputError: a package that it needs is not installed.
        """
        training = self._base(name)
        shown = [
            one for one in _catalogue.fields_with_values(Training, plain(training)) if one["name"] not in ("published", "seeds")
        ]
        return {"name": name, "seeds": list(training.seeds), "fields": shown}

    def resolve(self, form: TrainingForm) -> Training:
        """Return the training configuration described by a form.

        Raises:
            UnknownNameError: the configuration is unknown. InputError: a field is unknown or invalid, or a value names a file.
        """
        training = self._base(form.training)
        changes = {key: self._resolve_names(key, _read(key, value)) for key, value in form.changes.items()}
        if changes:
            values = plain(training)
            words = "; ".join(f"{key} {value}" for key, value in form.changes.items() if key not in FREE)
            values |= {"label": "own", "published": [], "method": f"{values['method']} Changed: {words}."}
            for key in sorted(changes, key=lambda key: key.count(".")):
                _set_value(values, key, changes[key])
            training = build(values, Training, "training")
            check_name("training", training.name)
        training = replace(training, seeds=form.seeds) if form.seeds else training
        check_training(training, "training")
        return training

    def _base(self, name: str) -> Training:
        if name not in training_names():
            raise UnknownNameError("training", name, training_names())
        if absent := lacking(("learning",)):
            raise InputError(f"training {name!r}: {absent}")
        return load_training(name)

    def _resolve_names(self, key: str, value: Any) -> Any:
        """Return a changed value, with the names of server content replaced by names that Agora can resolve.

        Raises:
            InputError: the value names a file.
        """
        if isinstance(value, Mapping):
            return {inner: self._resolve_names(str(inner), one) for inner, one in value.items()}
        if isinstance(value, list):
            return [self._resolve_names(key, one) for one in value]
        if not isinstance(value, str) or key in FREE:
            return value
        if key in ("suite", "test"):
            return self._suite(value)
        text = self._policies.planner(value)
        if any(sign in value.replace(OWN, "") for sign in "/\\~"):
            raise InputError(f"{key}: expected a name, got {value!r}; paths of files are not allowed on the pages")
        return text


def write_training(place: Path, training: Training) -> None:
    """Write a training file to the folder of a run, which is created."""
    place.mkdir(parents=True, exist_ok=True)
    write_whole(place / RECORD, dump(training))


def _list_entry(name: str, absent: str, suites: Mapping[str, str]) -> dict[str, Any]:
    said = load(folder("configs") / "training" / f"{name}.yaml", dict[str, Any])
    card = load_policy_card(name).seeds[0] if name in card_names() else None
    trainer = said["trainer"]
    return {
        **{key: said[key] for key in _SHOWN},
        "trainer": trainer if isinstance(trainer, str) else trainer["name"],
        "missing": absent or suites.get(said["suite"], "") or suites.get(said["test"], ""),
        "took": None if card is None else {"steps": card.steps, "seconds": card.seconds, "cpu": card.made_on.get("cpu", "")},
        "results": [] if card is None else plain(card.results),
    }


def _read(key: str, value: Any) -> Any:
    """Return a changed value; lists and mappings may be given as YAML."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        return parse(value, list if value[0] == "[" else dict, f"training: {key}")
    return value


def _set_value(values: dict[str, Any], key: str, value: Any) -> None:
    """Set the value at a dotted name; a component may be given by its name alone."""
    *path, last = key.split(".")
    place = values
    for part in path:
        inner = place.get(part)
        if isinstance(inner, str):
            inner = {"name": inner}
        if not isinstance(inner, dict):
            raise InputError(f"training: {key}: {part} has no fields")
        place[part] = inner
        place = inner
    place[last] = value
