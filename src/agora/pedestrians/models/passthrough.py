"""Arena's plug-in ``passthrough`` (crowdsim, 2023), which leaves pedsim's own force as it is."""

from __future__ import annotations

from dataclasses import dataclass

from agora.pedestrians.models.pedsim import Pedsim


@dataclass(frozen=True)
class Passthrough(Pedsim):
    """`Pedsim` under the name that Arena's configurations use for it."""
