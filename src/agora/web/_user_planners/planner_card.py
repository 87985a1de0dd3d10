"""A program that reads a planner's file for the web interface, sandboxed like the planner itself. It returns the planner's card or
an error.

The arguments are the file descriptor of a pipe and the path of the file; the program writes JSON to the pipe.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from agora.errors import InputError, nearest
from agora.field_docs import introduction
from agora.planners.adapters import declaration_of
from agora.planners.contained.planner import MEMORY
from agora.planners.contained.program import begin, describe_error, hello_of, planner_class
from agora.registry import available
from agora.web._catalogue import fields_of


def _card(file: Path) -> dict[str, Any]:
    """Return the card of the planner in a file.

    Raises:
        InputError: the planner has a parameter without a default or needs an unknown channel, or the file does not define a
            planner.
    """
    found: Any = planner_class(file)
    fields = list(fields_of(found))
    for one in fields:
        if one["required"]:
            raise InputError(f"{file.name}: its parameter {one['name']} has no default; give it one")
    said = declaration_of(found())
    hello_of(said, 1.0)
    for name, own in said.channels.items():
        if own is None and name not in (known := available("channels")):
            raise InputError(f"{file.name}: no sensor called {name!r}; {nearest(name, known)}")
    return {"text": introduction(found), "fields": fields, "needs": sorted(said.channels), "wrong": ""}


def main() -> None:
    """Read a planner's file and write its card."""
    file = Path(sys.argv[2])
    begin([file], MEMORY)
    try:
        card = json.dumps(_card(file))
    except BaseException as error:  # noqa: BLE001 - a stranger's code may raise anything
        card = json.dumps({"wrong": describe_error(error)})
    with os.fdopen(int(sys.argv[1]), "w", encoding="utf-8") as pipe:
        pipe.write(card)


if __name__ == "__main__":
    main()
    os._exit(0)  # exit without running anything that the code left behind
