// The last seconds of a live episode, in the columns that the replay has too, and the time that the page shows.
import type { Walker } from "../../../../viewer/templates/track.js";
import type { Point, Pose } from "../../../../viewer/templates/painter.js";
import type { Numbers } from "./message";

export type Snapshot = {
  time: number;
  pedestrians: { present: Numbers; id: Numbers; x: Numbers; y: Numbers; heading: Numbers; radius: Numbers; state: Numbers };
  robots: { active: Numbers; x: Numbers; y: Numbers; heading: Numbers; vx: Numbers; vy: Numbers; omega: Numbers };
};

const MOST = 120; // samples that are kept; the older half goes when there are more
const STEP = 0.02; // m that the robot moves before its way gets another point
const SLACK = 1.15; // the page takes so much longer than the time between two moments, so that it rarely waits for the next

type Rows = { x: number[]; y: number[]; heading: number[] };
type Column = Rows & Omit<Walker, keyof Rows> & { present: number[]; state: number[] };

export class Recent {
  readonly track: Rows & { time: number[]; people: Column[] } = { time: [], x: [], y: [], heading: [], people: [] };
  readonly way: Point[] = [];
  #from = 0;
  #since = 0;
  #gap = 0.1;

  get newest(): number {
    return this.track.time.at(-1) ?? 0;
  }

  /** The time of the episode that the page shows at a time of its own clock, ms. It runs to the newest moment, evenly. */
  shown(now: number): number {
    const share = Math.min(1, Math.max(0, (now - this.#since) / (1000 * SLACK * this.#gap)));
    return this.#from + (this.newest - this.#from) * share;
  }

  /** True while the page has not shown the newest moment. */
  moving(now: number): boolean {
    return this.shown(now) < this.newest;
  }

  /** Take in a moment that has come. */
  push({ time, robots, pedestrians }: Snapshot, now: number): void {
    const { track } = this, late = (now - this.#since) / 1000;
    if (track.time.length && time <= this.newest) return;
    this.#from = track.time.length ? this.shown(now) : time;
    if (late < 1) this.#gap += 0.2 * (late - this.#gap);
    this.#since = now;
    track.time.push(time);
    track.x.push(robots.x[0]);
    track.y.push(robots.y[0]);
    track.heading.push(robots.heading[0]);
    for (const column of track.people) this.#repeat(column);
    for (let i = 0; i < pedestrians.present.length; i++) if (pedestrians.present[i]) this.#put(pedestrians, i);
    const last = this.way.at(-1);
    if (!last || Math.hypot(robots.x[0] - last[0], robots.y[0] - last[1]) > STEP) this.way.push([robots.x[0], robots.y[0]]);
    if (track.time.length > MOST) this.#forget(MOST / 2);
  }

  /** Somebody is not there, unless the moment says so. */
  #repeat(column: Column): void {
    column.present.push(0);
    for (const row of [column.x, column.y, column.heading, column.state]) row.push(row[row.length - 1]);
  }

  #put(people: Snapshot["pedestrians"], i: number): void {
    const { track } = this, last = track.time.length - 1, id = people.id[i];
    let column = track.people.find((one) => one.id === id);
    if (!column) {
      const row = () => new Array<number>(last + 1).fill(0);
      column = { id, radius: people.radius[i], present: row(), x: row(), y: row(), heading: row(), state: row() };
      track.people.push(column);
    }
    column.radius = people.radius[i];
    column.present[last] = 1;
    column.x[last] = people.x[i];
    column.y[last] = people.y[i];
    column.heading[last] = people.heading[i];
    column.state[last] = people.state[i];
  }

  #forget(count: number): void {
    const { track } = this;
    track.people = track.people.filter((column) => column.present.includes(1, count));
    for (const rows of [track, ...track.people]) for (const row of [rows.x, rows.y, rows.heading]) row.splice(0, count);
    for (const column of track.people) for (const row of [column.present, column.state]) row.splice(0, count);
    track.time.splice(0, count);
  }
}

export const others = ({ robots }: Snapshot, radii: number[]): (Pose & { radius: number })[] =>
  radii.flatMap((radius, k) => (robots.active[k + 1] ? [{ x: robots.x[k + 1], y: robots.y[k + 1], heading: robots.heading[k + 1], radius }] : []));
