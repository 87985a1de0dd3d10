"""Manual, docstrings and messages avoid wordings that readers stumble over.

A pattern is precise enough that there is no list of exceptions: reword the text. Each pattern shows a sentence before and after.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src/agora"
COVERED = ("README.md", "CONTRIBUTING.md", "docs", *sorted(f"src/agora/{p.name}" for p in SOURCE.iterdir()))
FROZEN = {"policies"}  # the digests of a drawn edition cover the strings of its code, but not its docstrings
SKIPPED = {"decisions", "generated", "_build"}  # records keep their text; generated pages come from docstrings

UNIT = r"(?:robot|line|file|episode|map|planner|stage|world|step|second|metre|minute|call|row|run|pedestrian|job|period|sample)"
PLACE = r"(?:file|page|table|report|row|list|text|header)"


class Pattern(NamedTuple):
    """A wording to avoid: a regular expression, a text that it matches, and a better text."""

    expression: str
    before: str
    after: str


PATTERNS = (
    # "who" and "what" without a noun
    Pattern(r"\b[Ww]hoever\b", "Whoever arrives stands there.", "A pedestrian that has arrived stops."),
    Pattern(r"(?:^|[.;:] )Who (?![^.?]*\?)", "Who stays faces the desk.", "A person who stays faces the desk."),
    Pattern(r"(?:^|\. )What [^.?]*\.(?:\s|$)", "What reads a message is the decoder.", "The decoder reads a message."),
    Pattern(r"\b(?:the|an) own\b", "a moment of the own itinerary", "a moment of its own itinerary"),
    # conditions
    Pattern(r"\bwhere (?:there (?:is|are) none|none\b|nobody\b|it (?:is|has) none)", "0 where none is given", "0 if none is given"),
    Pattern(r"\b(?:None|empty) where\b", "None where it is unknown", "None if it is unknown"),
    Pattern(r"\b(?:is|are) there[.,;:)]", "the files that are there.", "the existing files."),
    Pattern(r"\bthere (?:is|are) none (?:of|such|with)\b", "there is none of this name", "no policy has this name"),
    Pattern(r"(?:^|[.;:] )Where [^.?]*, ", "Where no path fits, it stops.", "If no path fits, it stops."),
    Pattern(r"\b(?:is|are) (?:here|there) (?:already|twice|once|now)\b", "the key is there twice", "the key occurs twice"),
    Pattern(
        r"(?<![Tt]here )\b(?:is|are) no "
        r"(?:checkpoint|conflict|field|JSON|message|mistake|number|place|point|policy|pose|scenario|XML|YAML)\b",
        "the file is no checkpoint",
        "the file is not a checkpoint",
    ),
    Pattern(
        r"\bnobody (?:answers|asks|knows|listens|offers|recorded|said|says|sends|tells|transforms)\b",
        "nobody listens at the port",
        "no process listens at the port",
    ),
    Pattern(r"\b(?:has|have|had) not[.,;:)]", "a map, which theirs have not.", "a map, which theirs do not have."),
    # verbs
    Pattern(r"\b(?:is|are|be|was|were|been) told\b", "The planner is told of people.", "The planner knows the people."),
    Pattern(r"\b(?:is|are|was|were) (?:not )?said\b", "The fault is said with its line.", "The error names the line."),
    Pattern(r"\b(?:comes?|came|coming) about\b", "the interaction came about", "the interaction occurred"),
    Pattern(r"\bcomes? to the (?:same|bit|end)\b", "It comes to the same curve.", "It gives the same curve."),
    Pattern(r"\b(?:put|puts|putting) (?:(?:an?|the) \w+ )?together\b", "An episode is put together.", "An episode is created."),
    Pattern(r"\bminds? (?:nobody|people|robots?|the robot|others|walls)\b", "It minds nobody.", "It ignores people."),
    Pattern(rf"\b(?:stands?|stood) in (?:the|a|its|this) {PLACE}\b", "It stands in the file.", "It is in the file."),
    Pattern(r"\b(?:go|goes|went|going) on\b(?! to\b)", "the other worlds go on", "the other worlds continue"),
    Pattern(r"\b(?:was|were|is|be) begun\b", "the run was begun in another folder", "the run was started in another folder"),
    # words
    Pattern(r"\b(?:to and fro|for ever|(?:rising|falling) order)\b", "walk to and fro for ever", "walk back and forth endlessly"),
    Pattern(
        r"\b(?:afresh|anew|[Ff]ore(?:tells?|told)|amid|amidst|thereof|whence|heed(?:s|ed)?|mend(?:s|ed)?)\b",
        "begin anew",
        "restart",
    ),
    Pattern(r"\b[Bb]eside\b(?!:)", "a page beside its files", "a page next to its files"),
    Pattern(r"\b[Bb]ut for\b", "equal but for the seed", "equal except for the seed"),
    Pattern(r"\bto the (?:bit|byte)\b", "They agree to the bit.", "They agree bit for bit."),
    Pattern(
        rf"\b(?:one|twice|times|entry|line|metres|radians|images|ms|kB) an? {UNIT}\b", "one line a robot", "one line per robot"
    ),
    Pattern(r"\b(?:their|its|robots'|people's|pedestrians') ways\b", "robots and their ways", "robots and their paths"),
    Pattern(r"\b(?:counted|made|learned|measured|called|drawn) so\b(?! (?:far|that|many))", "counted so", "counted in this way"),
)


def markdown(text: str) -> str:
    """Return the prose of a page: no code, headings, link targets, or text in italics, which is quoted or a label."""
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?: {4}\S| *#).*$", "", text, flags=re.MULTILINE)
    return joined(re.sub(r"\]\([^)]*\)|(?<!\*)\*(?=\S)[^*\n]+\*(?!\*)", "X", text))


def joined(text: str) -> str:
    """Return a text without code in backticks, each paragraph on one line."""
    return re.sub(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)(?!\w+: )", " ", re.sub(r"``[^`]*``|`[^`]*`", "X", text))


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of the docstrings of a module, and of its strings that are sentences."""
    frozen = bool(FROZEN & set(path.relative_to(SOURCE).parts))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if text := ast.get_docstring(node):
                yield node.body[0].lineno, text
            case ast.JoinedStr(values=values) if not frozen:
                yield node.lineno, "".join(str(v.value) if isinstance(v, ast.Constant) else "X" for v in values)
            case ast.Constant(value=str(text)) if not frozen and text.count(" ") > 2 and "\n" not in text:
                yield node.lineno, text


def texts(place: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the prose of each text of a file or folder."""
    for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if SKIPPED & set(path.parts):
            continue
        name = path.relative_to(ROOT)
        if path.suffix == ".md":
            yield f"{name}", markdown(path.read_text(encoding="utf-8"))
        elif path.suffix == ".py" and SOURCE in path.parents:
            yield from ((f"{name}:{line}", joined(text)) for line, text in strings(path))


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.before)
def test_patterns_match_what_they_replace_and_nothing_else(pattern):
    assert re.search(pattern.expression, pattern.before)
    assert not any(re.search(other.expression, pattern.after) for other in PATTERNS)


@pytest.mark.parametrize("place", COVERED)
def test_wording(place):
    found = [
        f"{name}: ...{text[max(0, match.start() - 30) : match.end() + 30]}... (better: {pattern.before!r} -> {pattern.after!r})"
        for name, text in texts(ROOT / place)
        for pattern in PATTERNS
        for match in re.finditer(pattern.expression, text)
    ]
    assert not found, "\n" + "\n".join(found)
