"""The policies of a server's users, trained or uploaded, and the planners that use them.

A user's policy is called ``own/NAME`` in a planner's ``file`` parameter. ``own/NAME`` on its own denotes the planner that uses the
policy. The front end cannot name any other files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from agora.config import load, plain
from agora.errors import InputError, UnknownNameError
from agora.learning.card import CARD, PolicyCard
from agora.learning.run import RECORD, policy_kept
from agora.learning.seeds import seed_folder
from agora.planners.presets import preset_names
from agora.policies.weights import SUFFIX
from agora.registry import available
from agora.web._user_planners.uploaded_planners import PlannerCard, UploadedPlanners
from agora.web._user_planners.uploaded_policies import UploadedPolicies
from agora.web.settings import Settings

OWN = "own/"
"""Prefix of the names of users' policies and planners."""

CONTAINED = "contained"
"""Name of the planner that runs an uploaded Python file."""

_OWN = re.compile(r"(?<![\w/.-])own/([A-Za-z0-9][\w-]*)(?![\w/.-])")
_ALONE = re.compile(r"own/([^:+,=()]*)(:?)")
_CODE = re.compile(r"\bcontained\b")
_PLUS = re.compile(r"\+(?=[A-Za-z_])")
_PATH = re.compile(r"[\\/~]|\.safetensors")
_UNFIT = re.compile(r'["\\,(){}\[\]]|\+(?=[A-Za-z_])')
"""Characters that a quoted path must not contain in a planner string."""
_PLAIN = re.compile(r"^(?:\w+:file=)?own\|([\w-]+)$")
_CONTAINED = re.compile(r"\bcontained:file=(own\|[\w-]+)(?:,values=\{([^{}]*)\})?")


class Policies:
    """The policies of a server's users.

    Args:
        settings: settings of the server; a training run's ``training.yaml`` file is in the folder of the run.

    Attributes:
        uploaded: uploaded policies.
        code: planners uploaded as code, which share a namespace with policies.
    """

    def __init__(self, settings: Settings) -> None:
        self._runs, self._uploads, self._codes = settings.runs, settings.policies, settings.planners
        self.uploaded, self.code = UploadedPolicies(settings.policies), UploadedPlanners(settings.planners, allowed=settings.code)

    def all(self) -> list[dict[str, Any]]:
        """Return all policies in the format used by the front end: trained policies, newest first, then uploaded policies."""
        trained = [self._describe_trained(run, file) for run, file in sorted(self._trainings(), reverse=True)]
        return [*trained, *map(self._describe_uploaded, self.uploaded.names())]

    def planners(self) -> list[dict[str, Any]]:
        """Return uploaded policies as presets of the ``policy`` planner."""
        return [
            {
                "name": one["name"],
                "kind": "preset",
                "planner": "policy",
                "summary": "One of your policies: " + (one["words"] or "used as trained."),
                "label": one["label"],
                "needs": one["needs"],
                "learned": True,
                "missing": one["wrong"],
                "changes": {},
            }
            for one in map(self._describe_uploaded, self.uploaded.names())
        ]

    def of_run(self, run: Path) -> dict[str, Any] | None:
        """Return the policy of a training run in the format used by the front end; None until its first round has ended."""
        file = _policy_of(run)
        return None if file is None else self._describe_trained(run, file)

    def keep(self, name: str, data: bytes) -> dict[str, Any]:
        """Atomically store an uploaded policy under an unused name, and return it.

        Args:
            name: name of the policy.
            data: content of the file.

        Raises:
            InputError: the name is taken or invalid, or the file is not an Agora policy; nothing is stored. OSError: the disk is
                full.
        """
        self.uploaded.keep(name, data, {*(_name(run) for run, _ in self._trainings()), *self.code.names()})
        return self._describe_uploaded(name)

    def keep_code(self, name: str, data: bytes, card: PlannerCard, *, instead: bool = False) -> dict[str, Any]:
        """Store a planner uploaded as code under an unused name, and return it.

        Args:
            name: name of the planner.
            data: content of the file.
            card: card of the planner, from `UploadedPlanners.read`.
            instead: whether to replace an existing planner with this name.

        Raises:
            InputError: the name is taken; nothing is stored. OSError: the disk is full.
        """
        self.code.keep(name, data, card, {*(_name(run) for run, _ in self._trainings()), *self.uploaded.names()}, instead=instead)
        return self.code.describe(name)

    def planner(self, text: str) -> str:
        """Return a planner string for `agora.planners.presets.named_planner`, with files substituted for users' policies.

        ``own/NAME`` on its own becomes the planner that uses the policy, which is ``policy`` for uploaded policies.

        Raises:
            UnknownNameError: there is no user's policy with this name. InputError: the string names a file, or the path of the
                server's folder contains characters that are not allowed in a planner specification.
        """
        if _CODE.search(_OWN.sub("", text)):
            raise InputError(f"planner: expected own/NAME for one of your planners; got {text!r}")
        alone = _ALONE.match(text)
        if stray := set(_OWN.findall(text[alone.end() if alone else 0 :])).intersection(self.code.names()):
            raise InputError(
                f"planner: own/{min(stray)} was uploaded as code, and can only be used alone or with an interplanner; got {text!r}"
            )
        if alone and self._resolve(alone[1])[0] == CONTAINED:
            text = _with_values(alone[1], text[alone.end() :])
        elif alone:
            text = _with_file(self._resolve(alone[1])[0], alone[1]) + ("," if alone[2] else "") + text[alone.end() :]
        rest = _OWN.sub("", text)
        if "\\" in rest or ("file" in rest and _PATH.search(rest)):
            raise InputError(f"planner: file: expected the name of a policy, or own/NAME of a policy on this server; got {text!r}")
        return _OWN.sub(lambda found: self._quoted(found[1]), text)

    def labels(self, labels: Iterable[str]) -> dict[str, str]:
        """Return labels for compared planners, keyed by their original labels, with names substituted for the files of users'
        policies.

        A planner whose only parameter is a policy gets the policy's name, unless a planner or another label has that name.
        """
        named = {label: self._label_with_names(label) for label in labels}
        short = {label: _PLAIN.sub(r"\1", text) for label, text in named.items()}
        times = Counter(short.values())
        return {
            label: text if text == named[label] or (times[text] == 1 and text not in _planner_names()) else named[label]
            for label, text in short.items()
        }

    def label(self, label: str) -> str:
        """Return the label of a single planner, as in `labels`."""
        return self.labels([label])[label]

    def _label_with_names(self, label: str) -> str:
        runs, uploads = (re.escape(str(folder).replace("/", "|")) for folder in (self._runs, self._uploads))
        trained = re.sub(rf'"{runs}\|([\w-]+)\|[^"]*"', lambda found: f"own|{_name(self._runs / found[1])}", label)
        codes = re.escape(str(self._codes).replace("/", "|"))
        trained = _CONTAINED.sub(_as_typed, re.sub(rf'"{codes}\|([\w-]+)\.py"', r"own|\1", trained))
        return re.sub(rf'"{uploads}\|([\w-]+){re.escape(SUFFIX)}"', r"own|\1", trained)

    def _quoted(self, name: str) -> str:
        path = str(self._resolve(name)[1])
        if _UNFIT.search(path):
            raise InputError(
                f"planner: the path of the server's folder contains characters that are not allowed in a planner "
                f"specification: {path}"
            )
        return f'"{path}"'

    def _resolve(self, name: str) -> tuple[str, Path]:
        """Return the planner and the file of a policy."""
        found = {one: ("policy", self.uploaded.path(one)) for one in self.uploaded.names()}
        if name in self.code.names():
            self.code.check_allowed()
            return CONTAINED, self.code.path(name)
        found |= {_name(run): (str(_training_in(run)["planner"]), file) for run, file in self._trainings()}
        if name not in found:
            raise UnknownNameError("policy of yours", name, found)
        return found[name]

    def _trainings(self) -> Iterator[tuple[Path, Path]]:
        """Yield the folders of training runs that have a policy, with the policy's file."""
        for record in self._runs.glob(f"*/{RECORD}"):
            with suppress(InputError, KeyError):  # a file of a different kind, or edited manually
                if (file := _policy_of(record.parent)) is not None:
                    yield record.parent, file

    def _describe_trained(self, run: Path, file: Path) -> dict[str, Any]:
        name = _name(run)
        card = run / CARD
        return {
            "name": f"{OWN}{name}",
            "card": plain(load(card, PolicyCard)) if card.is_file() else None,
            "run": run.name,
            "planner": _with_file(str(_training_in(run)["planner"]), name),
            "path": str(file),
        }

    def _describe_uploaded(self, name: str) -> dict[str, Any]:
        """Return an uploaded policy in the format used by the front end."""
        said = {"name": f"{OWN}{name}", "card": None, "run": "", "planner": _with_file("policy", name)}
        return said | self.uploaded.describe(name)


@cache
def _planner_names() -> frozenset[str]:
    """Return the names of planners and presets, which may be row labels."""
    return frozenset([*available("planners"), *preset_names()])


def _policy_of(run: Path) -> Path | None:
    """Return the best policy so far from a training run's first seed; None until its first round has ended."""
    return policy_kept(seed_folder(run, _training_in(run)["seeds"][0]))


def _name(run: Path) -> str:
    """Return the name of a training run's policy: the name of the training configuration, followed by the end of the run's name."""
    return f"{_training_in(run)['name']}-{run.name.rpartition('-')[2]}"


def _training_in(run: Path) -> dict[str, Any]:
    return _read(run / RECORD)


@lru_cache(maxsize=256)
def _read(record: Path) -> dict[str, Any]:
    """Return the training configuration in a folder; the result can be cached because its file does not change."""
    return load(record, dict[str, Any])


def _with_values(name: str, rest: str) -> str:
    """Return the string for an uploaded planner with the rest of the given string: parameters, an interplanner, or nothing."""
    values, *front = _PLUS.split(rest, maxsplit=1)
    if set("{}").intersection(values):
        raise InputError(f"planner: own/{name}: expected parameters without braces, got {values!r}")
    given = re.sub(r"(^|,)\s*(\w+)=", r"\1\2: ", values)
    return "+".join([f"{CONTAINED}:file={OWN}{name}{f',values={{{given}}}' if given else ''}", *front])


def _as_typed(found: re.Match[str]) -> str:
    """Return the label of an uploaded planner as written in the web interface."""
    values = re.sub(r"(^|,)(\w+): ", r"\1\2=", found[2] or "")
    return f"{found[1]}{f':{values}' if values else ''}"


def _with_file(planner: str, name: str) -> str:
    """Return the string of a planner that uses a user's policy."""
    if called := re.fullmatch(r"(\w+)\((.*)\)", planner):
        planner = f"{called[1]}:{called[2]}"
    return f"{planner}{',' if ':' in planner else ':'}file={OWN}{name}"
