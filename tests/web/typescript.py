"""The types of the pages, made from the server's OpenAPI document: ``python -m tests.web.typescript``, or make types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine

from agora.web.app import create_app
from agora.web.settings import Settings

FILE = Path(__file__).resolve().parents[2] / "src" / "agora" / "web" / "front" / "src" / "schemas.ts"
"""The generated file."""

HEAD = "// Generated from the OpenAPI document of the server by make types; do not edit.\n"
WORDS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def document() -> dict[str, Any]:
    """The OpenAPI document of a server."""
    return create_app(Settings(Path("web")), create_engine("sqlite://")).openapi()


def generate_types() -> str:
    """Return the text of the generated file."""
    return HEAD + "".join(_declaration(_name(name), one) for name, one in sorted(document()["components"]["schemas"].items()))


def _name(name: str) -> str:
    return name.replace("-", "")


def _declaration(name: str, schema: dict[str, Any]) -> str:
    text = schema.get("description", "").partition("\n\n")[0]
    head = f"\n/** {' '.join(text.split())} */\n" if text else "\n"
    return f"{head}export type {name} = {_type(schema, '')};\n"


def _type(schema: dict[str, Any], indent: str) -> str:
    """The type of a schema."""
    if "$ref" in schema:
        return _name(schema["$ref"].rpartition("/")[2])
    if "const" in schema or "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one, indent) for one in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(_type(one, indent) for one in schema['prefixItems'])}]"
        inner = _type(schema["items"], indent)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object":
        return _object(schema, indent)
    return WORDS.get(kind, "unknown")


def _object(schema: dict[str, Any], indent: str) -> str:
    others = schema.get("additionalProperties", True)
    rest = _type(others, indent) if isinstance(others, dict) else "unknown"
    if "properties" not in schema:
        return f"Record<string, {rest}>"
    required = schema.get("required", [])
    lines = [
        f"{indent}  {key}{'' if key in required else '?'}: {_type(one, indent + '  ')};\n"
        for key, one in schema["properties"].items()
    ]
    if others is not False:
        lines.append(f"{indent}  [key: string]: {rest};\n")
    return f"{{\n{''.join(lines)}{indent}}}"


if __name__ == "__main__":
    FILE.write_text(generate_types(), encoding="utf-8")
