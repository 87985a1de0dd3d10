"""Arena 3.0 and rosnav-rl reward files: ``reward_functions/*.yaml``, each a mapping of units to their parameters.

Missing parameters have Arena's default values, which can differ from the defaults of `ArenaReward`. Units that Agora does not have,
and parameters with a different meaning in Agora, are reported with their line numbers. A file is treated as a rosnav-rl file if it
contains a unit or a parameter that Arena 3.0 does not have.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agora.config import Builder, dump, plain
from agora.learning.arena_reward import NOTHING, WEIGHTS, ArenaReward
from agora.learning.arena_reward_units import INSTEAD, RewardFile
from agora.yaml_tree import Node, read_text, tree_of_text


@dataclass(frozen=True)
class RewardRead:
    """The reward that a reward file describes, and how it differs from Arena's.

    Attributes:
        reward: reward that contains exactly the file's units.
        notes: differences in Agora, each ``file:line: unit.parameter: difference``, in the order of the file.
    """

    reward: ArenaReward
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """The reward as YAML for the ``reward`` key of a training file; fields with default values are omitted."""
        usual = plain(ArenaReward())
        values = {key: value for key, value in plain(self.reward).items() if value != usual[key]}
        return dump({"reward": {"name": "arena"} | values})


def read_arena_reward(path: str | Path, *, safe_distance: float = 0.5, subgoals: bool = False) -> RewardRead:
    """Read an Arena 3.0 or rosnav-rl reward file.

    Args:
        path: path of the file.
        safe_distance: ``safety_distance`` from Arena's ``training_config.yaml``, m.
        subgoals: ``rl_agent.subgoal_mode`` from Arena's ``training_config.yaml``: whether progress is measured to a sub-goal on the
            global path.

    Raises:
        InputError: the file cannot be read or is not a reward file; the message names lines and keys.
    """
    node = _units_of(tree_of_text(read_text(path), str(path), is_json=False))
    units = node.value if isinstance(node.value, dict) else {}
    whole = {name: dataclasses.replace(unit, value={}) if unit.value is None else unit for name, unit in units.items()}
    known = {name: unit for name, unit in whole.items() if name not in INSTEAD}
    file: RewardFile = Builder(str(path)).run(dataclasses.replace(node, value=known) if whole else node, RewardFile)
    notes: list[str] = []
    values: dict[str, Any] = {"safe_distance": safe_distance, "along_path": subgoals}
    only_safe: list[str] = []
    later = any(unit.of_later for unit in vars(file).values() if unit is not None)
    for name, given in whole.items():
        notes += [f"{path}:{line}: {key}: {text}" for line, key, text in _notes(node, name, given, file)]
        if name in INSTEAD:
            continue
        unit = getattr(file, name)
        fields = unit.fields_later() if later else unit.fields()
        clash = fields.keys() & values.keys() - {"along_path"}
        if any(fields[key] != values[key] for key in clash):
            line = node.key_lines[name]
            differs = ", ".join(key for key in clash if fields[key] != values[key])
            notes.append(f"{path}:{line}: {name}: not imported: Agora has one {differs}, which another unit sets differently")
            continue
        values |= fields
        if values.keys() & {"safe", "safe_depth"} and not (unit.unsafe or unit.always):
            only_safe += [key for key in fields if key in WEIGHTS]
    return RewardRead(dataclasses.replace(NOTHING, **values, only_safe=tuple(only_safe)), tuple(notes))


def _units_of(node: Node) -> Node:
    """Return the mapping of units: the whole file, or the ``reward.reward_function_dict`` key of a rosnav-rl agent's file."""
    inner: Any = node
    for key in ("reward", "reward_function_dict"):
        inner = inner.value.get(key) if isinstance(inner, Node) and isinstance(inner.value, dict) else None
    return inner if isinstance(inner, Node) else node


def _notes(node: Node, name: str, given: Node, file: RewardFile) -> Iterator[tuple[int | None, str, str]]:
    """Return the differences between a unit in Agora and in Arena, each with line, key and description."""
    line = node.key_lines.get(name, node.line)
    if name in INSTEAD:
        yield line, name, f"not imported: Agora has no such unit; {INSTEAD[name]}"
        return
    for key, text in getattr(file, name).notes().items():
        if not key:
            yield line, name, text
        elif key in given.value:
            yield given.key_lines[key], f"{name}.{key}", text
