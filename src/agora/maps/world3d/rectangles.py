"""Division of cells into the fewest rectangles that cover each cell exactly once.

The minimum partition of a rectilinear region, which may have holes, is found in two steps. First, as many chords as possible are
drawn between the region's concave corners without crossing each other; they are a maximum independent set of a bipartite graph.
Then, one cut is made from every remaining concave corner. Source: Ferrari, Sankar and Sklansky, "Minimal rectangular partitions of
digitized blobs", Computer Vision, Graphics, and Image Processing 28, 1984. Cells that touch only at a corner are not connected.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.state import Array, Bools, Ints


class _Chords(NamedTuple):
    """Cuts along grid lines: each runs from ``first`` to ``last`` along ``line``, as whole numbers of cells."""

    line: Ints
    first: Ints
    last: Ints


def rectangles(cells: Bools) -> Ints:
    """Return the fewest rectangles (K, 4) that cover each true cell exactly once: first row, first column, number of rows, number
    of columns.

    Args:
        cells: (rows, columns) mask of the cells to cover.
    """
    padded = np.pad(np.asarray(cells, np.bool_), 1)
    along_x, along_y = padded[:-1] & padded[1:], padded[:, :-1] & padded[:, 1:]  # edges inside the region, with cells on both sides
    concave = _concave(padded)
    level, upright = _chords(concave, along_x[:, 1:]), _chords(concave.T, along_y.T[:, 1:])
    keep_level, keep_upright = _most_apart(level, upright)
    cut_x, cut_y = np.zeros_like(along_x), np.zeros_like(along_y)
    for cut, chords, keep in ((cut_x, level, keep_level), (cut_y.T, upright, keep_upright)):
        for line, first, last in zip(*(values[keep] for values in chords), strict=True):
            cut[line, first + 1 : last + 1] = True
    _cut_from_the_rest(padded, concave, along_x, cut_x, cut_y)
    return _read(padded, cut_x, cut_y)


def run_count(cells: Bools) -> int:
    """Return the number of boxes if cells are merged only along rows, or only along columns, whichever is lower."""
    padded = np.pad(np.asarray(cells, np.bool_), 1)
    return int(min((padded[:, 1:] & ~padded[:, :-1]).sum(), (padded[1:] & ~padded[:-1]).sum()))


def _concave(padded: Bools) -> Bools:
    """Return which corners of the grid have three of their four cells in the region; corner [r, c] is at the upper left of padded
    cell [r, c].
    """
    four = padded[:-1, :-1].astype(np.int8) + padded[1:, :-1] + padded[:-1, 1:] + padded[1:, 1:]
    return np.asarray(four == 3)


def _chords(concave: Bools, inside: Bools) -> _Chords:
    """Return the sections of grid lines inside the region that run from one concave corner to the next.

    ``inside[r, c]`` says whether the edge from corner [r, c] to [r, c + 1] is inside.
    """
    line, at = np.nonzero(concave)
    blocked = np.cumsum(~inside, axis=1, dtype=np.int32)
    before = np.concatenate([np.zeros((len(blocked), 1), np.int32), blocked], axis=1)
    good = (line[1:] == line[:-1]) & (before[line[1:], at[1:]] == before[line[:-1], at[:-1]])
    return _Chords(*(values.astype(np.int32) for values in (line[1:][good], at[:-1][good], at[1:][good])))


def _most_apart(level: _Chords, upright: _Chords) -> tuple[Bools, Bools]:
    """Return which chords to draw: as many as possible without any two meeting (König: all except a minimum vertex cover)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_bipartite_matching

    order = np.argsort(upright.line, kind="stable")
    low = np.searchsorted(upright.line[order], level.first)
    high = np.searchsorted(upright.line[order], level.last, side="right")
    meets = [np.zeros(0, np.int64)] * len(level.line)
    for k, (a, b) in enumerate(zip(low, high, strict=True)):
        near = order[a:b]
        meets[k] = near[(upright.first[near] <= level.line[k]) & (level.line[k] <= upright.last[near])]
    n, m = len(level.line), len(upright.line)
    rows = np.repeat(np.arange(n), [len(found) for found in meets])
    columns = np.concatenate([*meets, np.zeros(0, np.int64)])
    graph = csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(n, m))
    partner = maximum_bipartite_matching(graph, perm_type="column") if n and m else np.full(n, -1)
    matched = np.flatnonzero(partner >= 0)
    # alternating paths from the unmatched level chords: along any edge to an upright chord, and back along its match
    source = n + m
    free = np.flatnonzero(partner < 0)
    tails = np.concatenate([rows, n + partner[matched], np.full(len(free), source)])
    heads = np.concatenate([n + columns, matched, free])
    walk = csr_array((np.ones(len(tails), np.int8), (tails, heads)), shape=(n + m + 1, n + m + 1))
    reached: Array = np.zeros(n + m + 1, np.bool_)
    reached[breadth_first_order(walk, source, return_predecessors=False)] = True
    return reached[:n], ~reached[n : n + m]


def _cut_from_the_rest(padded: Bools, concave: Bools, along_x: Bools, cut_x: Bools, cut_y: Bools) -> None:
    """Cut along x, from every concave corner that is not the end of a chord, to the border or the next cut."""
    met = cut_x[:, 1:] | cut_x[:, :-1] | cut_y[1:] | cut_y[:-1]
    upright = cut_y[1:] | cut_y[:-1]
    for r, c in np.argwhere(concave & ~met):
        rightwards = not (padded[r, c] and padded[r + 1, c])  # the missing cell is on the left
        if cut_x[r, c + 1 if rightwards else c]:
            continue  # an earlier cut reached this corner
        ends = ~along_x[r, 1:] if rightwards else ~along_x[r, -2::-1]
        stops = upright[r] if rightwards else upright[r, ::-1]
        at = c if rightwards else len(stops) - 1 - c
        last = ends[at:].copy()
        last[:-1] |= stops[at + 1 :]
        length = int(np.argmax(last))
        length += 0 if ends[at + length] else 1
        cut_x[r, c + 1 : c + 1 + length] |= rightwards
        cut_x[r, c + 1 - length : c + 1] |= not rightwards


def _read(padded: Bools, cut_x: Bools, cut_y: Bools) -> Ints:
    """Return the rectangles (K, 4) that the cuts produce, ordered by first row and column."""
    inner = padded[1:-1, 1:-1]
    left = ~padded[1:-1, :-2] | cut_y[1:-1, :-1]
    right = ~padded[1:-1, 2:] | cut_y[1:-1, 1:]
    below = ~padded[:-2, 1:-1] | cut_x[:-1, 1:-1]
    above = ~padded[2:, 1:-1] | cut_x[1:, 1:-1]
    rows, columns = np.nonzero(inner & left & below)
    return np.stack([rows, columns, _until(above.T, columns, rows), _until(right, rows, columns)], axis=1).astype(np.int32)


def _until(ends: Bools, lines: Array, starts: Array) -> Array:
    """Return the number of cells from each of ``starts`` to the next end on the same line, including both."""
    count = ends.shape[1]
    numbers = np.where(ends, np.arange(count), count)
    after: Array = np.minimum.accumulate(numbers[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(after[lines, starts] - starts + 1)
