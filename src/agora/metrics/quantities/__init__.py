"""Quantities that several metrics share: samples of a recording, arithmetic, outlines, lines of sight, zones and groups."""
