// From strokes to cells: which cells a wall, a room, a block or a free line covers. A cell is covered where its middle is.
import type { Point } from "../../../../viewer/templates/painter.js";

export type Shape = "line" | "gap" | "room" | "block" | "pen";
export type Stroke = { shape: Shape; points: Point[]; thick: number; value: number };
export type Grid = { origin: Point; resolution: number; rows: number; columns: number };

const ROUND = 16; // corners of the end of a free line

/** The polygons of a stroke, m. */
export function polygonsOf({ shape, points, thick }: Stroke, size: number): Point[][] {
  const [a, b = a] = points;
  switch (shape) {
    case "line": return [bar(a, b, wide(a, b, thick, size), true)];
    case "gap": return [bar(a, b, wide(a, b, thick, size), false)];
    case "block": return [[a, [b[0], a[1]], b, [a[0], b[1]]]];
    case "room": {
      const corners: Point[] = [a, [b[0], a[1]], b, [a[0], b[1]]];
      return corners.map((corner, k) => bar(corner, corners[(k + 1) % 4], Math.max(thick, size), true));
    }
    case "pen": {
      const broad = Math.max(thick, 1.5 * size);
      return points.flatMap((point, k) => [disc(point, broad / 2), ...(k ? [bar(points[k - 1], point, broad, false)] : [])]);
    }
  }
}

/** A slanted wall of one cell would have holes at its steps. */
const wide = (a: Point, b: Point, thick: number, size: number) => Math.max(thick, a[0] === b[0] || a[1] === b[1] ? size : 1.5 * size);

function bar(a: Point, b: Point, thick: number, capped: boolean): Point[] {
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]), [ux, uy] = length ? [(b[0] - a[0]) / length, (b[1] - a[1]) / length] : [1, 0];
  const h = thick / 2, end = capped || !length ? h : 0, nx = -uy * h, ny = ux * h;
  const c: Point = [a[0] - ux * end, a[1] - uy * end], d: Point = [b[0] + ux * end, b[1] + uy * end];
  return [[c[0] + nx, c[1] + ny], [d[0] + nx, d[1] + ny], [d[0] - nx, d[1] - ny], [c[0] - nx, c[1] - ny]];
}

const disc = ([x, y]: Point, radius: number): Point[] => Array.from({ length: ROUND }, (_, k) => [x + radius * Math.cos((2 * Math.PI * k) / ROUND), y + radius * Math.sin((2 * Math.PI * k) / ROUND)]);

/** Go through the cells that a polygon covers, as pieces of rows: the first cell, and the first after it. */
export function fill(polygon: Point[], { origin, resolution, rows, columns }: Grid, put: (from: number, to: number) => void): void {
  const exact = (value: number) => Math.round(value * 1e6) / 1e6; // half cells are halves
  const corners = polygon.map(([x, y]): Point => [exact((x - origin[0]) / resolution), exact((y - origin[1]) / resolution)]);
  const heights = corners.map(([, y]) => y), first = Math.max(0, Math.ceil(Math.min(...heights) - 0.5)), last = Math.min(rows, Math.ceil(Math.max(...heights) - 0.5));
  for (let row = first; row < last; row++) {
    const y = row + 0.5, crossings: number[] = [];
    corners.forEach(([x0, y0], k) => {
      const [x1, y1] = corners[(k + 1) % corners.length];
      if (y0 <= y !== y1 <= y) crossings.push(exact(x0 + ((y - y0) * (x1 - x0)) / (y1 - y0)));
    });
    crossings.sort((p, q) => p - q);
    for (let k = 0; k + 1 < crossings.length; k += 2) {
      const from = Math.max(0, Math.ceil(crossings[k] - 0.5)), to = Math.min(columns, Math.ceil(crossings[k + 1] - 0.5));
      if (from < to) put(row * columns + from, row * columns + to);
    }
  }
}
