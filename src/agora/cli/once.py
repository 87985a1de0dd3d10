"""Repeated options: single-value options reject a second value, whereas Click would silently use the last one."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from agora.cli.given import note


class Once(TyperCommand):
    """A command whose options may be given only once, except for options that take several values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments as Click does.

        Raises:
            BadParameter: a single-value option was given more than once.
        """
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option in given:
            if isinstance(option, TyperOption) and not option.multiple and not option.is_flag and given.count(option) > 1:
                name = max(option.opts, key=len)
                raise typer.BadParameter(f"{name} is given {given.count(option)} times, but takes one value", ctx=ctx)
        note({str(option.name): max(option.opts, key=len) for option in given if isinstance(option, TyperOption)})
        return super().parse_args(ctx, args)
