"""Spans: ranges of values that tuning and calibration may try."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """The range of values that `agora tune` or `agora calibrate` may try for a parameter.

    Attributes:
        low: minimum value; an integer if the field is an integer.
        high: maximum value; an integer if the field is an integer.
        log: whether to search on a logarithmic scale, as is suitable for lengths and weights.
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.log and self.low <= 0):
            raise ValueError(f"low must be below high, and above 0 if log is set; got {self.low} and {self.high}")
