"""Names of stored content, which are also used as file names."""

from __future__ import annotations

import re

from agora.errors import InputError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")


def check_name(what: str, name: str) -> None:
    """Reject a name that is not a plain file name.

    Raises:
        InputError: the name has characters other than letters, digits, - and _, begins with - or _, or is longer than 80
            characters.
    """
    if not _NAME.fullmatch(name):
        shown = name if len(name) <= 60 else f"{name[:57]}..."
        raise InputError(
            f"{what}: a name may only have letters, digits, - and _, at most 80 characters, and must begin with a letter "
            f"or digit; got {shown!r}"
        )
