"""The program that runs a planner from another package: it confines itself, sends a handshake and the planner's claims, and answers
requests.

Its arguments are the socket's file descriptor, the planner's configuration as JSON, the maximum response time, the memory limit,
and Python's path.
"""

from __future__ import annotations

import json
import os
import socket
import sys

from agora.config import plain
from agora.leaderboard._isolation import Claims, readable
from agora.planners.contained.program import answer_all, begin
from agora.planners.presets import planner_of
from agora.registry import Named


def _claims(planner: Named) -> bytes:
    """Return the claims of a planner as a message."""
    data = json.dumps(plain(Claims.of(planner))).encode()
    return len(data).to_bytes(4, "little") + data


def main() -> None:
    """Run the planner until the socket closes."""
    connection, configuration = socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2])
    sys.path[:] = [place for place in json.loads(sys.argv[5]) if os.path.isabs(place)]
    begin(readable(configuration), float(sys.argv[4]))
    name = configuration["name"]
    answer_all(
        connection,
        lambda: planner_of(configuration, "planner").part,
        float(sys.argv[3]),
        lambda part: _claims(Named(name, part)),
    )


if __name__ == "__main__":
    main()
    os._exit(0)  # even if threads of the planner are still running
