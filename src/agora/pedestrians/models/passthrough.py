"""Arena's ``passthrough`` plug-in (crowdsim, 2023), which leaves pedsim's own force unchanged."""

from __future__ import annotations

from dataclasses import dataclass

from agora.pedestrians.models.pedsim import Pedsim


@dataclass(frozen=True)
class Passthrough(Pedsim):
    """`Pedsim` under the name used in Arena's configurations."""
