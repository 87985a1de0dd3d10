// An edited world: its cells, zones and furniture, and their changes, so that they can be undone.
import type { Point } from "../../../../viewer/templates/painter.js";
import { fill, polygonsOf, type Grid, type Stroke } from "./raster";
import type { Piece, WorldDrawing, Zone } from "../schemas";

export type Rest = { zones: Zone[]; furniture: Piece[] };
export type Chosen = { kind: "zone" | "piece"; number: number; corner?: number };
type Cells = { at: Uint32Array; before: Uint8Array; after: Uint8Array | number };
type Step = { cells: Cells } | { before: Rest; after: Rest; tag: string };

const MOST = 300;

export class Drawing implements Grid {
  readonly origin: Point;
  readonly resolution: number;
  readonly rows: number;
  readonly columns: number;
  rest: Rest;
  /** Cells that have changed since the picture was painted; null: all of them. */
  changed: { at: Uint32Array }[] | null = null;
  #steps: Step[] = [];
  #done = 0;
  #saved = 0;

  constructor(sent: WorldDrawing, readonly cells: Uint8Array<ArrayBuffer>) {
    ({ origin: this.origin, resolution: this.resolution, rows: this.rows, columns: this.columns } = sent);
    this.rest = { zones: sent.zones, furniture: sent.furniture };
  }

  get dirty(): boolean { return this.#done !== this.#saved; }
  /** Whether walls differ from those that were saved. */
  get walled(): boolean {
    return this.#saved < 0 || this.#steps.slice(Math.min(this.#done, this.#saved), Math.max(this.#done, this.#saved)).some((step) => "cells" in step);
  }
  get canUndo(): boolean { return this.#done > 0; }
  get canRedo(): boolean { return this.#done < this.#steps.length; }
  get width(): number { return this.columns * this.resolution; }
  get height(): number { return this.rows * this.resolution; }

  saved(): void { this.#saved = this.#done; }

  /** Put a place onto the map. */
  inside([x, y]: Point): Point {
    return [Math.min(Math.max(x, this.origin[0]), this.origin[0] + this.width), Math.min(Math.max(y, this.origin[1]), this.origin[1] + this.height)];
  }

  stroke(stroke: Stroke): void {
    const at: number[] = [], before: number[] = []; // cells that change
    for (const polygon of polygonsOf(stroke, this.resolution)) {
      fill(polygon, this, (from, to) => {
        for (let cell = from; cell < to; cell++) {
          if (this.cells[cell] === stroke.value) continue;
          at.push(cell);
          before.push(this.cells[cell]);
          this.cells[cell] = stroke.value;
        }
      });
    }
    if (!at.length) return;
    this.#do({ cells: { at: Uint32Array.from(at), before: Uint8Array.from(before), after: stroke.value } });
  }

  /** Take on all cells at once. */
  all(cells: Uint8Array): void {
    const at: number[] = [];
    for (let cell = 0; cell < cells.length; cell++) if (cells[cell] !== this.cells[cell]) at.push(cell);
    const where = Uint32Array.from(at), step = { at: where, before: Uint8Array.from(at, (cell) => this.cells[cell]), after: Uint8Array.from(at, (cell) => cells[cell]) };
    this.cells.set(cells);
    this.#do({ cells: step });
  }

  /** Change zones or furniture. Small steps with the same tag are one. */
  put(rest: Partial<Rest>, tag = ""): void {
    const before = this.rest, after = { ...before, ...rest }, last = this.#steps[this.#done - 1];
    this.rest = after;
    if (tag && this.#done === this.#steps.length && this.#done !== this.#saved && last && "tag" in last && last.tag === tag) last.after = after;
    else this.#do({ before, after, tag });
  }

  undo(): void {
    if (!this.canUndo) return;
    const step = this.#steps[--this.#done];
    if ("cells" in step) this.#set(step.cells, step.cells.before);
    else this.rest = step.before;
  }

  redo(): void {
    if (!this.canRedo) return;
    const step = this.#steps[this.#done++];
    if ("cells" in step) this.#set(step.cells, step.cells.after);
    else this.rest = step.after;
  }

  #do(step: Step): void {
    if (this.#saved > this.#done) this.#saved = -1; // the saved state can no longer be reached
    this.#steps = [...this.#steps.slice(0, this.#done), step];
    this.#done++;
    if ("cells" in step) this.changed?.push(step.cells);
    if (this.#steps.length <= MOST) return;
    this.#steps.shift();
    this.#done--;
    this.#saved--;
  }

  #set(cells: Cells, values: Uint8Array | number): void {
    if (typeof values === "number") for (const cell of cells.at) this.cells[cell] = values;
    else cells.at.forEach((cell, k) => { this.cells[cell] = values[k]; });
    this.changed?.push(cells);
  }
}
