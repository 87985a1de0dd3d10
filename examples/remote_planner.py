"""A planner in a process of its own, with NumPy alone: it follows the path, and waits for whoever is close in front of it."""

import cmath
import json
import socketserver
import sys

import numpy as np


def _message(name, content, twists=np.zeros((0, 3), "<f4")):  # noqa: B008 - nobody writes to it
    about = {"__metadata__": {"agora": json.dumps({"format": f"agora.{name}", "version": 2, "content": content})}}
    about["twists"] = {"dtype": "F32", "shape": twists.shape, "data_offsets": [0, twists.nbytes]}
    header, data = json.dumps(about).encode(), twists.tobytes()
    return (8 + len(header) + len(data)).to_bytes(4, "little") + len(header).to_bytes(8, "little") + header + data


def _twist(pose, path, count, radius, fastest, turning, *people):
    here, frame = complex(pose[0], pose[1]), cmath.rect(1.0, -pose[2])
    ahead = [(complex(*place) - here) * frame for place in path[: max(count, 1)]]
    bearing = cmath.phase(next((p for p in ahead[ahead.index(min(ahead, key=abs)) :] if abs(p) > 0.6), ahead[-1]))
    near = [p for xy, r, there in zip(*people, strict=True) if there and abs(p := (complex(*xy) - here) * frame) < radius + 0.5 + r]
    vx = 0.0 if any(p.real > 0.0 for p in near) else fastest * max(cmath.cos(bearing).real, 0.0)
    return vx, 0.0, max(-turning, min(turning, 2.0 * bearing))


class _Planner(socketserver.StreamRequestHandler):
    def handle(self):  # noqa: D102
        keys, kind = "pose path path_count radius limits.max_vx limits.max_omega", {"F32": "<f4", "I32": "<i4", "BOOL": "?"}
        keys = [f"observation.{k}" for k in f"{keys} pedestrians.position pedestrians.radius pedestrians.present".split()]
        self.wfile.write(_message("hello", {"needs": ["path", "pedestrians"]}))
        while head := self.rfile.read(12):
            size = int.from_bytes(head[4:], "little")
            of, data = json.loads(self.rfile.read(size)), self.rfile.read(int.from_bytes(head[:4], "little") - 8 - size)
            number = json.loads(of["__metadata__"]["agora"])["content"]["number"]  # which the answer repeats
            seen = [np.frombuffer(data[slice(*a["data_offsets"])], kind[a["dtype"]]).reshape(a["shape"]) for a in map(of.get, keys)]
            twists = [_twist(*row) for row in zip(*map(np.ndarray.tolist, seen), strict=True)]
            self.wfile.write(_message("answer", {"twists": {"$array": "twists"}, "number": number}, np.array(twists, "<f4")))


socketserver.ThreadingUnixStreamServer(sys.argv[1], _Planner).serve_forever()
