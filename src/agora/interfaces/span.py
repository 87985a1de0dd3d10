"""Spans: the values that tuning and calibration may try."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """The values that `agora tune` or `agora calibrate` may try for a parameter.

    Attributes:
        low: least value, a whole number for a field of whole numbers.
        high: largest value, a whole number for a field of whole numbers.
        log: whether all orders of magnitude are alike, for scales and weights.
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.log and self.low <= 0):
            raise ValueError(f"low must be below high, and above 0 if log is set; got {self.low} and {self.high}")
