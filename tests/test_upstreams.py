"""The manual holds all that ``make upstreams`` reads from it. The commands themselves are run by ``make upstreams`` alone."""

from __future__ import annotations

import re

import pytest

from tests import upstreams


@pytest.mark.parametrize("name", upstreams.STACKS)
def test_the_pages_say_what_a_stack_needs_and_how_the_graph_starts_with_it(name):
    stack = upstreams.STACKS[name]
    lines, packages = upstreams.row(stack)
    assert upstreams.kept(lines).count("local-name") == len(lines) > 0
    assert all(re.fullmatch(r"[a-z0-9.+-]+", package) for package in packages)
    assert all(re.search("start_arena.launch", line) for line in upstreams.starts(stack)) and upstreams.starts(stack)
    assert stack.before is None or upstreams.commands(*stack.before)


def test_the_table_names_every_line_of_rosinstall():
    table = upstreams.section(*upstreams.BUILDING)
    known = re.findall(r"local-name: ([\w-]+),", (upstreams.ROOT / ".rosinstall").read_text(encoding="utf-8"))
    assert known and all(f"`{name}`" in table for name in known)
    assert any("catkin_make_isolated" in block for block in upstreams.commands(*upstreams.BUILDING))
