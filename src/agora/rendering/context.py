"""Off-screen rendering: an OpenGL context for each thread, created with EGL, or with OSMesa if EGL is not available."""

from __future__ import annotations

import atexit
import ctypes.util
import importlib
import os
import threading
from typing import Any

from agora.errors import InputError

__all__ = ["BACKENDS"]

BACKENDS = {
    "egl": ("EGL", "apt install libegl1 libgl1-mesa-dri"),
    "osmesa": ("OSMesa", "apt install libosmesa6"),
}
"""Backends for off-screen rendering, in order of preference: their libraries, and how to install them."""

_CHOICE = "MUJOCO_GL"  # environment variable with which MuJoCo's users choose a backend
_lock = threading.Lock()
_local = threading.local()
_used: list[str] = []


def libraries() -> dict[str, bool]:
    """Return which of the libraries in `BACKENDS` are available on this machine."""
    return {name: ctypes.util.find_library(library) is not None for name, (library, _) in BACKENDS.items()}


def backend() -> str:
    """Return the name of the backend that renders images on this machine.

    Raises:
        InputError: no backend is available; the message states what was tried and how to install one.
    """
    with _lock:
        if not _used:
            _used.append(_find())
        return _used[0]


def _find() -> str:
    asked = os.environ.get(_CHOICE, "").lower()
    tried = []
    for name in [asked] if asked in BACKENDS else list(BACKENDS):
        os.environ[_CHOICE] = name  # MuJoCo's own OpenGL loader reads it
        os.environ.setdefault("PYOPENGL_PLATFORM", name)
        try:
            importlib.import_module(f"mujoco.{name}").GLContext(16, 16).free()
        except Exception as error:  # noqa: BLE001 libraries that are not there fail in ways of their own
            tried.append(f"{name}: {str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__}")
            if os.environ.get("PYOPENGL_PLATFORM") == name:
                del os.environ["PYOPENGL_PLATFORM"]
            continue
        return name
    ways = "; or ".join(f"{how}" for _, how in BACKENDS.values())
    raise InputError(f"cameras need off-screen OpenGL, which does not work here ({'; '.join(tried)}): {ways}; see agora doctor")


def current() -> Any:
    """Make this thread's OpenGL context current, and return it.

    Raises:
        InputError: no backend works on this machine.
    """
    name = backend()
    owner = os.getpid()
    if getattr(_local, "owner", None) != owner:
        with _lock:
            _local.context = importlib.import_module(f"mujoco.{name}").GLContext(16, 16)
        _local.owner = owner
        _contexts.append(_local.context)
    _local.context.make_current()
    return _local.context


_contexts: list[Any] = []


@atexit.register
def _free() -> None:
    """Release the contexts while the libraries that they need are still loaded."""
    for context in _contexts:
        context.free()
    _contexts.clear()
