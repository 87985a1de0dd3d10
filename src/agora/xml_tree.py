"""Parses XML into a tree of elements with line numbers, and rejects document types."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from agora.errors import InputError

_DEEPEST = 20
_ENCODING = re.compile(r"""(<\?xml[^>]*?)\s+encoding\s*=\s*["'][^"']*["']""")


@dataclass
class Element:
    """An element and the line where it begins."""

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)


def tree_of_xml(text: str, where: str) -> Element:
    """Return the root element of an XML text. Document types are rejected, because their entities could expand to any size.

    Args:
        text: decoded text, whose encoding declaration is ignored.
        where: name of the text in messages.

    Raises:
        InputError: the text is not XML, has a document type, or is nested too deeply; the message gives the line.
    """
    parser = expat.ParserCreate()
    document = Element("", {}, 1)
    stack = [document]

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > _DEEPEST:
            raise InputError(f"{where}:{parser.CurrentLineNumber}: nested too deeply")
        stack.append(Element(tag, attributes, parser.CurrentLineNumber))
        stack[-2].children.append(stack[-1])

    def end(_: str) -> None:
        stack.pop()

    def characters(text: str) -> None:
        stack[-1].text += text

    def refuse(*_: object) -> None:
        raise InputError(f"{where}:{parser.CurrentLineNumber}: expected no document type declaration")

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = characters, refuse
    try:
        parser.Parse(_ENCODING.sub(r"\1", text, count=1), True)
    except expat.ExpatError as error:
        raise InputError(f"{where}:{error.lineno}: not valid XML: {expat.errors.messages[error.code]}") from error
    except (ValueError, LookupError) as error:
        raise InputError(f"{where}:1: not valid XML: {error}") from error
    return document.children[0]
