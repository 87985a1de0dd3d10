"""Options that are given twice: options with one value refuse a second, where Click would silently take the last."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from agora.cli.given import note


class Once(TyperCommand):
    """A command whose options may be given once, except for options with several values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; as in Click.

        Raises:
            BadParameter: an option with one value was given several times.
        """
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option in given:
            if isinstance(option, TyperOption) and not option.multiple and not option.is_flag and given.count(option) > 1:
                name = max(option.opts, key=len)
                raise typer.BadParameter(f"{name} is given {given.count(option)} times, but takes one value", ctx=ctx)
        note({str(option.name): max(option.opts, key=len) for option in given if isinstance(option, TyperOption)})
        return super().parse_args(ctx, args)
