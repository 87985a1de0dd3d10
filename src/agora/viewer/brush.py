"""Draws anti-aliased lines, discs and rings on an array of pixels; a video frame takes a millisecond or two."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agora.core.state import Array, Floats

Pixels = NDArray[np.uint8]
"""(height, width, 3) red, green, blue; row 0 is the top."""

HALF, ONE = np.float32(0.5), np.float32(1.0)


class Brush:
    """Blends colour into pixels; overlapping shapes drawn by a single call do not darken each other.

    Args:
        pixels: pixels to draw on.
        top: first row that is drawn; None for all rows.
        bottom: row after the last row that is drawn; None for all rows.
        layer: whether the shapes of all calls form a single layer, as if drawn by a single call; all shapes must then have the same
            colour.
    """

    def __init__(self, pixels: Pixels, top: int = 0, bottom: int | None = None, *, layer: bool = False) -> None:
        self._rows = pixels[top:bottom]
        self._flat = self._rows.reshape(-1, 3)
        self._below = self._flat.copy() if layer else self._flat
        self._top = top
        self._cover = np.zeros(len(self._flat), np.float32)

    def discs(self, centre: ArrayLike, radius: ArrayLike, colour: str, opacity: ArrayLike = 1.0) -> None:
        """Fill discs. Centres (N, 2) are x, y in pixels; radius and opacity are (N,) or a single value for all discs."""
        self.lines(centre, centre, radius, colour, opacity)

    def lines(self, start: ArrayLike, end: ArrayLike, radius: ArrayLike, colour: str, opacity: ArrayLike = 1.0) -> None:
        """Draw lines with round ends, twice ``radius`` wide, from start to end (N, 2)."""
        a, b = self._points(start), self._points(end)
        r = np.broadcast_to(np.asarray(radius, np.float32), len(a))
        if len(a):
            corner, distance = self._distance(a, b, r)
            self._lay(corner, r[:, None, None] - distance + HALF, colour, opacity)

    def rings(self, centre: ArrayLike, radius: ArrayLike, width: float, colour: str, opacity: ArrayLike = 1.0) -> None:
        """Draw circles of the given line width."""
        c = self._points(centre)
        r = np.broadcast_to(np.asarray(radius, np.float32), len(c))
        if len(c):
            corner, distance = self._distance(c, c, r + np.float32(width))
            self._lay(corner, np.float32(0.5 * width + 0.5) - np.abs(distance - r[:, None, None]), colour, opacity)

    def polygon(self, corners: ArrayLike, colour: str, opacity: float = 1.0) -> None:
        """Fill a polygon. Corners (V, 2) are x, y in pixels."""
        points = self._points(corners)
        low = np.floor(points.min(axis=0)).astype(np.int64) - 1
        size = int(np.ceil((points.max(axis=0) - low).max())) + 2
        x, y = (low[:, None] + np.arange(size) + 0.5)[:, None, :].astype(np.float32)
        y = y.T
        nearest, within = np.full((size, size), np.inf, np.float32), np.zeros((size, size), np.bool_)
        for (ax, ay), (bx, by) in zip(points, np.roll(points, -1, axis=0), strict=True):
            ex, ey = bx - ax, by - ay
            along = np.clip(
                ((x - ax) * ex + (y - ay) * ey) / np.maximum(ex * ex + ey * ey, np.float32(1e-12)), np.float32(0.0), ONE
            )
            nearest = np.minimum(nearest, np.hypot(x - ax - along * ex, y - ay - along * ey))
            if ay != by:
                within ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) / (by - ay) * ex)
        self._lay(low[None], (np.where(within, nearest, -nearest) + HALF)[None], colour, opacity)

    def _points(self, places: ArrayLike) -> Floats:
        """Return pixel positions (N, 2), relative to the first row that may be drawn."""
        return (np.reshape(np.asarray(places, float), (-1, 2)) - (0, self._top)).astype(np.float32)

    def _distance(self, a: Floats, b: Floats, reach: Floats) -> tuple[Array, Floats]:
        """Return the first column and row (N, 2) of a square of S x S pixels around each line, and the distances of the pixel
        centres from the line (N, S, S).
        """
        half = int(np.ceil(float((reach + np.abs(b - a).max(axis=1) / 2).max()))) + 1
        corner = np.floor((a + b) / 2).astype(np.int64) - half
        centres = np.arange(2 * half + 1, dtype=np.float32) + HALF
        from_a = corner.astype(np.float32) - a
        dx, dy = from_a[:, 0, None, None] + centres[None, None, :], from_a[:, 1, None, None] + centres[None, :, None]
        if a is b or not np.any(a != b):
            return corner, np.sqrt(dx * dx + dy * dy)
        ux, uy = (b - a)[:, 0, None, None], (b - a)[:, 1, None, None]
        length = np.maximum(ux * ux + uy * uy, np.float32(1e-12))
        along = np.clip(dx * (ux / length) + dy * (uy / length), np.float32(0.0), ONE)
        return corner, np.sqrt((dx - along * ux) ** 2 + (dy - along * uy) ** 2)

    def _lay(self, corner: Array, cover: Floats, colour: str, opacity: ArrayLike) -> None:
        """Blend the colour into the pixels where ``cover`` is above 0; if shapes overlap, the maximum cover counts."""
        height, width = self._rows.shape[:2]
        size = cover.shape[1]
        which = np.flatnonzero(cover > 0)
        amount = np.minimum(cover.reshape(-1)[which], ONE)
        shape, inside = np.divmod(which, size * size)
        opaque = np.asarray(opacity, np.float32)
        amount = amount * (opaque[shape] if opaque.ndim else opaque)
        if (corner < 0).any() or (corner + size > (width, height)).any():
            x, y = corner[shape, 0] + inside % size, corner[shape, 1] + inside // size
            seen = (x >= 0) & (x < width) & (y >= 0) & (y < height)
            at, amount = (y * width + x)[seen], amount[seen]
        else:
            square = np.arange(size)[:, None] * width + np.arange(size)
            at = (corner[:, 1] * width + corner[:, 0])[shape] + square.reshape(-1)[inside]
        np.maximum.at(self._cover, at, amount)
        part = self._cover[at][:, None]
        ink = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], np.float32)
        below = self._below[at].astype(np.float32)
        below += (ink - below) * part + HALF
        self._flat[at] = below.astype(np.uint8)
        if self._below is self._flat:
            self._cover[at] = 0.0
