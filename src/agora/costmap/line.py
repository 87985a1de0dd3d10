"""The cells on a straight line (Bresenham) and in a convex polygon, as costmap_2d rasterises them."""

from __future__ import annotations

import numpy as np

from agora.core.jit import hidden


@hidden
def aim_line(column, row, to_column, to_row):
    """Return a line from one cell to another, in the form that `step_line` takes: number of steps, number of sideways steps, the
    two signs, and whether the line is steep.
    """
    across, up = abs(to_column - column), abs(to_row - row)
    right, above = 1 if to_column >= column else -1, 1 if to_row >= row else -1
    return max(across, up), min(across, up), right, above, up > across


@hidden
def step_line(column, row, error, line):
    """Return the next cell on a line and the next error term; the initial error is half the number of steps."""
    length, short, right, above, steep = line
    error += short
    aside = error >= length
    error = error - length if aside else error
    column += right if (aside or not steep) else 0
    row += above if (aside or steep) else 0
    return column, row, error


@hidden
def write_spans(corners_x, corners_y, x, y, sine, cosine, inverse, rows, columns, west, east):
    """Write the cells that a convex polygon covers, including its outline; parts outside the grid are moved to the grid's edge.

    Args:
        corners_x: (V,) x of the corners in the polygon's frame, m.
        corners_y: (V,) y of the corners in the polygon's frame, m.
        x: x of the frame's origin in the grid's frame, m.
        y: y of the frame's origin in the grid's frame, m.
        sine: sine of the frame's heading.
        cosine: cosine of the frame's heading.
        inverse: number of cells per metre.
        rows: number of rows of the grid.
        columns: number of columns of the grid.
        west: (rows,) first column of each row, written.
        east: (rows,) last column of each row, written.

    Returns:
        First and last row of the polygon; only the rows from first to last are written.
    """
    low, high = rows, -1
    from_column, from_row = np.int64(0), np.int64(0)  # a Numba literal 0 has its own type and would compile the kernel again
    for i in range(-1, corners_x.size):
        a, b = corners_x[i], corners_y[i]
        column = np.int32(np.floor((x + a * cosine - b * sine) * inverse))
        row = np.int32(np.floor((y + a * sine + b * cosine) * inverse))
        column, row = min(max(column, 0), columns - 1), min(max(row, 0), rows - 1)
        while low > row or high < row:
            k = row if high < 0 else (low - 1 if low > row else high + 1)
            low, high = min(low, k), max(high, k)
            west[k], east[k] = columns, -1
        if i >= 0:
            line = aim_line(from_column, from_row, column, row)
            c, r, error = from_column, from_row, line[0] // 2
            for step in range(line[0] + 1):
                west[r], east[r] = min(west[r], c), max(east[r], c)
                if step < line[0]:
                    c, r, error = step_line(c, r, error, line)
        from_column, from_row = column, row
    return low, high
