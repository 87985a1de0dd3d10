"""Batched environments for training.

``import agora.learning`` registers ``agora/Navigation-v0`` with Gymnasium, if Gymnasium is installed.
"""

import contextlib

ENV_ID = "agora/Navigation-v0"

with contextlib.suppress(ModuleNotFoundError):
    import gymnasium

    gymnasium.register(ENV_ID, "agora.learning.single:AgoraEnv", vector_entry_point="agora.learning.env:AgoraVectorEnv")
