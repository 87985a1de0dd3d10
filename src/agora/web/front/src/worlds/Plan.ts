// Draws an edited world: its cells from a picture with one pixel per cell, its zones, its furniture, and the current stroke.
import { Painter, type Colours, type Point } from "../../../../viewer/templates/painter.js";
import type { Chosen, Drawing } from "./drawing";
import { polygonsOf, type Stroke } from "./raster";
import type { FurnitureOutline, Piece, Zone } from "../schemas";

export type Shown = { chosen: Chosen | null; stroke: Stroke | null; corners: Point[] | null; cross: Point | null; words: string; zones: Zone[]; furniture: Piece[] };

const NEAR = 9; // pixels within which a press counts
const HUES = [205, 35, 150, 320, 265, 95, 0, 55];

export class Plan extends Painter {
  #cells = document.createElement("canvas"); // a pixel a cell
  #place = document.createElement("canvas"); // the cells as they are shown
  #drawn = "";
  #models: Map<string, FurnitureOutline>;
  #revision = 0;

  constructor(canvas: HTMLCanvasElement, readonly drawing: Drawing, things: FurnitureOutline[]) {
    super(canvas);
    this.#models = new Map(things.map((one) => [one.name, one]));
    this.#cells.width = drawing.columns;
    this.#cells.height = drawing.rows;
  }

  wear(colours: Colours): void {
    this.colours = colours;
    this.drawing.changed = null;
  }

  at(px: number, py: number): Point {
    return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
  }

  show({ chosen, stroke, corners, cross, words, zones, furniture }: Shown): void {
    this.#ground();
    const { pen, colours } = this;
    zones.forEach((zone, k) => this.#zone(zone, chosen?.kind === "zone" && chosen.number === k));
    furniture.forEach((piece, k) => this.#piece(piece, chosen?.kind === "piece" && chosen.number === k));
    if (stroke) this.#stroke(stroke);
    if (corners?.length) {
      this.line(corners, colours.robot, 2);
      for (const [x, y] of corners) this.disc(x, y, 4 / this.scale, colours.ground, colours.robot, 2);
    }
    if (cross) this.#cross(cross);
    if (words && cross) this.#words(words, cross);
    pen.setLineDash([]);
    this.ruler();
  }

  /** The element under a pixel: a corner of the chosen zone first, then things, then zones. */
  hit(chosen: Chosen | null, px: number, py: number): Chosen | null {
    const { zones, furniture } = this.drawing.rest, [x, y] = this.at(px, py), near = NEAR / this.scale;
    if (chosen?.kind === "zone" && zones[chosen.number]) {
      const corner = zones[chosen.number].polygon.flat().findIndex(([a, b]) => Math.hypot(a - x, b - y) <= near);
      if (corner >= 0) return { ...chosen, corner };
    }
    const piece = furniture.findLastIndex((one) => Math.hypot(one.x - x, one.y - y) <= Math.max(near, 0.8 * (this.#models.get(one.model)?.radius ?? 0.3)));
    if (piece >= 0) return { kind: "piece", number: piece };
    const zone = zones.findLastIndex(({ polygon }) => polygon.some((one) => holds(one, x, y)));
    return zone >= 0 ? { kind: "zone", number: zone } : null;
  }

  /** The cells, drawn again only if the view or a cell has changed. */
  #ground(): void {
    this.#repaint();
    const view = [this.x, this.y, this.scale, this.canvas.width, this.canvas.height, this.colours.ground, this.#revision].join(), { pen, canvas, drawing } = this;
    if (view !== this.#drawn) {
      pen.fillStyle = this.colours.unknown;
      pen.fillRect(0, 0, this.width, this.height);
      const [x, y] = drawing.origin, left = this.sx(x), top = this.sy(y + drawing.height), wide = drawing.width * this.scale, high = drawing.height * this.scale;
      pen.fillStyle = this.colours.ground;
      pen.fillRect(left, top, wide, high);
      this.#grid(left, top, wide, high);
      pen.imageSmoothingEnabled = false;
      pen.drawImage(this.#cells, left, top, wide, high);
      this.#place.width = canvas.width;
      this.#place.height = canvas.height;
      this.#place.getContext("2d")!.drawImage(canvas, 0, 0);
      this.#drawn = view;
      return;
    }
    pen.save();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(this.#place, 0, 0);
    pen.restore();
  }

  /** Lines at each metre, where they are not too close. */
  #grid(left: number, top: number, wide: number, high: number): void {
    const { pen, drawing: { origin: [x, y], width, height } } = this, step = [1, 5, 10].find((metres) => metres * this.scale >= 24);
    if (!step) return;
    pen.fillStyle = this.colours.unknown;
    for (let a = Math.ceil(x / step) * step; a <= x + width; a += step) pen.fillRect(Math.round(this.sx(a)), top, 1, high);
    for (let b = Math.ceil(y / step) * step; b <= y + height; b += step) pen.fillRect(left, Math.round(this.sy(b)), wide, 1);
  }

  /** Bring the picture of the cells up to date. */
  #repaint(): void {
    const { drawing, colours } = this, brush = this.#cells.getContext("2d")!, { columns, rows, cells, changed } = drawing;
    if (changed === null) {
      const image = new ImageData(columns, rows), wall = bytes(colours.wall), unknown = bytes(colours.unknown), all = new Uint32Array(image.data.buffer);
      for (let row = 0; row < rows; row++) for (let column = 0, cell = row * columns, to = (rows - 1 - row) * columns; column < columns; column++, cell++, to++) if (cells[cell]) all[to] = cells[cell] === 1 ? wall : unknown;
      brush.putImageData(image, 0, 0);
    } else if (changed.length === 0) return;
    else for (const { at } of changed) {
      for (let k = 0; k < at.length;) {
        const first = at[k], value = cells[first], column = first % columns;
        let long = 1;
        while (k + long < at.length && at[k + long] === first + long && cells[first + long] === value && column + long < columns) long++;
        const y = rows - 1 - Math.floor(first / columns);
        if (value === 0) brush.clearRect(column, y, long, 1);
        else { brush.fillStyle = value === 1 ? colours.wall : colours.unknown; brush.fillRect(column, y, long, 1); }
        k += long;
      }
    }
    drawing.changed = [];
    this.#revision++;
  }

  #trace(polygons: Point[][]): void {
    const { pen } = this;
    pen.beginPath();
    for (const polygon of polygons) {
      polygon.forEach(([x, y], k) => (k ? pen.lineTo(this.sx(x), this.sy(y)) : pen.moveTo(this.sx(x), this.sy(y))));
      pen.closePath();
    }
  }

  #stroke(stroke: Stroke): void {
    const { pen, colours } = this, free = stroke.shape === "pen";
    const colour = stroke.value ? colours.robot : colours.contact;
    pen.globalAlpha = 0.6;
    if (free) this.line(stroke.points.length > 1 ? stroke.points : [stroke.points[0], stroke.points[0]], colour, Math.max(2, stroke.thick * this.scale));
    else {
      this.#trace(polygonsOf(stroke, this.drawing.resolution));
      pen.fillStyle = colour;
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  #zone(zone: Zone, chosen: boolean): void {
    const { pen, colours } = this, hue = hueOf(zone.category[0] ?? "");
    this.#trace(zone.polygon);
    pen.fillStyle = `hsl(${hue} 70% 50% / ${chosen ? 0.3 : 0.16})`;
    pen.fill();
    pen.strokeStyle = chosen ? colours.robot : `hsl(${hue} 60% 45%)`;
    pen.lineWidth = chosen ? 2.5 : 1.5;
    pen.stroke();
    const corners = zone.polygon[0] ?? [], x = corners.reduce((sum, [a]) => sum + a, 0) / corners.length, y = corners.reduce((sum, [, b]) => sum + b, 0) / corners.length;
    this.label(zone.label, x, y);
    if (chosen) for (const [a, b] of zone.polygon.flat()) this.disc(a, b, 5 / this.scale, colours.ground, colours.robot, 2);
  }

  #piece({ model: name, x, y, heading }: Piece, chosen: boolean): void {
    const model = this.#models.get(name), { pen, colours } = this, c = Math.cos(heading), s = Math.sin(heading);
    const there = ([a, b]: number[]): Point => [x + c * a - s * b, y + s * a + c * b];
    if (model) {
      this.#trace(model.polygons.map((polygon) => polygon.map(there)));
      pen.fillStyle = colours.faint;
      pen.fill();
      pen.strokeStyle = colours.ink;
      pen.lineWidth = 1;
      pen.stroke();
      for (const disc of model.discs) this.disc(...there(disc), disc[2], colours.faint, colours.ink, 1);
    } else this.disc(x, y, 0.3, null, colours.contact, 2);
    if (chosen) this.disc(x, y, (model?.radius ?? 0.3) + 4 / this.scale, null, colours.robot, 2.5);
  }

  #cross([x, y]: Point): void {
    const { pen, colours } = this, px = this.sx(x), py = this.sy(y);
    pen.strokeStyle = colours.contact;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(px - 9, py); pen.lineTo(px + 9, py);
    pen.moveTo(px, py - 9); pen.lineTo(px, py + 9);
    pen.stroke();
  }

  #words(words: string, [x, y]: Point): void {
    const { pen, colours } = this, px = Math.min(Math.max(this.sx(x) + 14, 4), this.width - 140), py = Math.max(this.sy(y) - 14, 18);
    pen.font = "600 13px system-ui, sans-serif";
    pen.lineWidth = 4;
    pen.strokeStyle = colours.ground;
    pen.strokeText(words, px, py);
    pen.fillStyle = colours.ink;
    pen.fillText(words, px, py);
  }
}

/** The colour of a category, the same for the same word. */
function hueOf(word: string): number {
  let sum = 0;
  for (const sign of word) sum = (31 * sum + sign.codePointAt(0)!) % 65_521;
  return word === "forbidden" ? 0 : HUES[sum % (HUES.length - 2)];
}

/** #RRGGBB as a pixel. */
function bytes(colour: string): number {
  const value = Number.parseInt(colour.slice(1), 16);
  return ((255 << 24) | ((value & 255) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

function holds(polygon: Point[], x: number, y: number): boolean {
  let inside = false;
  polygon.forEach(([x0, y0], k) => {
    const [x1, y1] = polygon[(k + 1) % polygon.length];
    if (y0 > y !== y1 > y && x < x0 + ((y - y0) * (x1 - x0)) / (y1 - y0)) inside = !inside;
  });
  return inside;
}
