"""Routes for uploads; each reads its body as a stream, up to the size limit for files."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from agora.errors import InputError
from agora.web._accounts.ownership import Ownership
from agora.web._accounts.people import CurrentPerson, Person
from agora.web._accounts.quotas import Ledger
from agora.web._guard import LARGEST_UPLOAD
from agora.web._routes.http import download
from agora.web._schemas.base import file_response
from agora.web._schemas.catalogue import Policy
from agora.web._schemas.content import ImportReport
from agora.web._user_content.imports import Importer
from agora.web._user_planners.policies import Policies

_MOST_FILES = 20

Answer = dict[str, object]


def add_uploads(app: FastAPI, importer: Importer, policies: Policies, ownership: Ownership, ledger: Ledger) -> None:
    """Add the routes for uploads."""

    def import_files(person: Person, files: list[tuple[str, bytes]], name: str, world: str) -> Answer:
        with ledger.turn(person):
            ledger.check_upload(person, sum(len(data) for _, data in files))
            found = importer.import_files(files, name, world)
            worlds = [("world", found["world"])] if found["world"] else []
            ownership.put(person.name, *worlds, *(("scenario", one) for one in found["scenarios"]))
        return found

    def keep(person: Person, name: str, data: bytes) -> Answer:
        with ledger.turn(person):
            ledger.check_upload(person, len(data))
            policy = policies.keep(name, data)
            ownership.put(person.name, ("policy", name))
        return policy

    @app.post("/api/uploads/open", status_code=201, response_model=ImportReport)
    async def open(
        person: CurrentPerson,
        request: Request,
        file: Annotated[list[str], Query()],
        size: Annotated[list[int] | None, Query()] = None,
        name: str = "",
        world: str = "",
    ) -> Answer:
        """Import files. The body is the concatenation of all files. ``file`` gives the name of each file and, if there are several
        files, ``size`` gives each file's size in bytes.

        Accepted files are scenarios of Agora, Arena or arena-tools, a map_server map with its image, and a world folder as a zip
        archive. ``name`` is the name of the new world; ``world`` is the world for scenarios that do not name one.
        """
        files = _split_body(await read_upload(request), file, size or [])
        return await run_in_threadpool(import_files, person, files, name, world)

    @app.put("/api/uploads/policies/{name}", status_code=201, response_model=Policy)
    async def keep_policy(name: str, person: CurrentPerson, request: Request) -> Answer:
        """Upload a policy. The body is a safetensors file in Agora's format."""
        return await run_in_threadpool(keep, person, name, await read_upload(request))

    @app.get("/api/own-policies/{name}/file", **file_response())
    def policy_file(name: str) -> Response:
        """The file of one of your policies."""
        return download(policies.uploaded.file(name).read_bytes(), f"{name}.safetensors")

    @app.delete("/api/own-policies/{name}", status_code=204)
    def remove_policy(name: str) -> None:
        """Remove one of your policies."""
        policies.uploaded.remove(name)
        ownership.forget("policy", name)


async def read_upload(request: Request) -> bytes:
    """Return the body of a request, read up to the size limit for files.

    Raises:
        HTTPException: the body exceeds the limit, regardless of its declared length; the status is 413.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_UPLOAD:
            raise HTTPException(413, f"expected at most {LARGEST_UPLOAD >> 20} MiB")
    return bytes(body)


def _split_body(body: bytes, names: list[str], sizes: list[int]) -> list[tuple[str, bytes]]:
    """Return the files that are concatenated in a body."""
    sizes = sizes if sizes or len(names) != 1 else [len(body)]
    if len(names) > _MOST_FILES or len(set(names)) < len(names):
        raise InputError(f"file: expected at most {_MOST_FILES} files of different names")
    if len(sizes) != len(names) or min(sizes, default=-1) < 0 or sum(sizes) != len(body):
        raise InputError(f"size: expected the length of each file, {len(body):,} bytes in all")
    found, at = [], 0
    for name, size in zip(names, sizes, strict=True):
        found.append((name, body[at : at + size]))
        at += size
    return found
