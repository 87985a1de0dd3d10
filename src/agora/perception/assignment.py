"""Compiled solver for the linear assignment problem: assigns rows to columns at minimum total cost.

It uses shortest augmenting paths (R. Jonker and A. Volgenant, "A shortest augmenting path algorithm for dense and sparse linear
assignment problems", Computing 38, 1987) in the variant described by D. F. Crouse ("On implementing 2D rectangular assignment
algorithms", IEEE Transactions on Aerospace and Electronic Systems 52(4), 2016), like scipy's ``linear_sum_assignment``.
"""

from __future__ import annotations

import numpy as np

from agora.core.jit import hidden, spliced
from agora.core.scalar import ZERO

_FAR = np.float32(3e38)


@spliced
def _search(cost, rows, columns, current, holder, u, v, shortest, path, seen_row, seen_column):
    """Find the shortest path from the unassigned row ``current`` to an unassigned column; return its length and that column."""
    for i in range(rows):
        seen_row[i] = False
    for j in range(columns):
        seen_column[j], shortest[j], path[j] = False, _FAR, -1
    least, i, sink = ZERO, current, -1
    while sink < 0:
        seen_row[i] = True
        best, nearest = _FAR, -1
        for j in range(columns):
            if seen_column[j]:
                continue
            reduced = least + cost[i, j] - u[i] - v[j]
            if reduced < shortest[j]:
                shortest[j], path[j] = reduced, i
            if nearest < 0 or shortest[j] < best or (shortest[j] == best and holder[j] < 0):
                best, nearest = shortest[j], j  # among columns at equal cost, prefer an unassigned column, which ends the search
        least = best
        seen_column[nearest] = True
        if holder[nearest] < 0:
            sink = nearest
        else:
            i = holder[nearest]
    return least, sink


@hidden
def assign(cost, rows, columns, partner, holder, u, v, shortest, path, seen_row, seen_column):
    """Write the column of each row to ``partner`` and the row of each column to ``holder``; -1 if none.

    All arrays may be longer than necessary. All arguments after ``holder`` are scratch.

    Args:
        cost: (R, C) float32 costs, finite; only the first ``rows`` rows and ``columns`` columns are used.
        rows: number of rows, at most ``columns``.
        columns: number of columns.
        partner: (R,) int32, out: column of each row.
        holder: (C,) int32, out: row of each column.
        u: (R,) dual variables of the rows.
        v: (C,) dual variables of the columns.
        shortest: (C,) lengths of the shortest paths to the columns.
        path: (C,) row that precedes each column on its shortest path, int32.
        seen_row: (R,) bool, scratch.
        seen_column: (C,) bool, scratch.
    """
    for i in range(rows):
        partner[i], u[i] = -1, ZERO
    for j in range(columns):
        holder[j], v[j] = -1, ZERO
    for current in range(rows):
        least, sink = _search(cost, rows, columns, current, holder, u, v, shortest, path, seen_row, seen_column)
        u[current] += least
        for i in range(rows):
            if seen_row[i] and i != current:
                u[i] += least - shortest[partner[i]]
        for j in range(columns):
            if seen_column[j]:
                v[j] -= least - shortest[j]
        j, i = sink, -1
        while i != current:
            i = path[j]
            holder[j] = i
            before = partner[i]
            partner[i] = j
            j = before
