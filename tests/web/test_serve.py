"""Connections of a server as it serves them, over real sockets."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest
import uvicorn
from websockets.sync.client import connect

from agora.web import serve
from agora.web._runs.queue import RunQueue
from agora.web.app import create_app
from agora.web.database import open_database

FEW = 4096
"""Bytes that the system keeps of what is sent, for each end of a connection."""


@contextmanager
def served(settings, engine):
    """A server while the block runs: uvicorn's, and the port."""
    with serve._listen("127.0.0.1", 0) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, FEW)
        server = uvicorn.Server(uvicorn.Config(create_app(settings, engine), log_level="warning", ws="websockets-sansio"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield server, listening.getsockname()[1]
        finally:
            server.should_exit = server.force_exit = True
            thread.join()


@contextmanager
def deaf(port: int, path: str):
    """A client that opens a WebSocket and never reads."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, FEW)
        client.connect(("127.0.0.1", port))
        keys = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13"
        host = f"Host: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade"
        client.sendall(f"GET {path} HTTP/1.1\r\n{host}\r\n{keys}\r\n\r\n".encode())
        yield client.getsockname()[1]


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="the system cuts no such connections")
def test_a_client_that_never_reads_takes_little_memory_holds_up_nobody_and_is_cut(settings, monkeypatch):
    monkeypatch.setattr(serve, "UNREAD", 1.0)
    with open_database(settings.url) as engine, served(settings, engine) as (server, port), deaf(port, "/api/events") as mine:
        queue, peak = RunQueue(engine), 0

        def unsent() -> list[int]:
            found = [one.transport for one in list(server.server_state.connections) if one.client and one.client[1] == mine]
            return [one.get_write_buffer_size() for one in found]

        while not unsent():
            threading.Event().wait(0.01)
        with connect(f"ws://127.0.0.1:{port}/api/events") as reader:
            for number in range(12):
                title = f"run {number}"
                queue.put(title, {"text": "x" * 20_000})
                while json.loads(reader.recv())["run"]["title"] != title:
                    pass
                peak = max([peak, *unsent()])
            while unsent():
                threading.Event().wait(0.01)
            queue.put("the last", {})
            while json.loads(reader.recv())["run"]["title"] != "the last":
                pass
    assert peak < 100_000


@pytest.mark.parametrize(
    ("lacking", "words"), [("", "runs confined by bubblewrap, Landlock 7, seccomp."), ("no Landlock", "no Landlock")]
)
def test_a_server_that_may_run_code_names_the_layers_that_confine_it_or_what_is_missing(settings, monkeypatch, lacking, words):
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: [one.close() for one in sockets])
    monkeypatch.setattr(serve._catalogue, "fill_caches", lambda: None)
    monkeypatch.setattr(serve, "lack", lambda: lacking)
    monkeypatch.setattr(serve, "layers", lambda: "bubblewrap, Landlock 7, seccomp")
    said: list[str] = []
    serve.serve(replace(settings, allow_code=True), "127.0.0.1", 0, 0, opens=False, say=said.append)
    assert said[0].endswith(words)
