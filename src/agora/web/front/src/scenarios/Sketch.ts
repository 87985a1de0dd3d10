// Draws an edited scenario: the map once per view, robots and pedestrians at each change; and finds the element under the mouse.
import { Painter, type Plan, type Point } from "../../../../viewer/templates/painter.js";
import { TURN } from "../../../../viewer/templates/track.js";
import { called, crowdOf, doing, facing, headingOf, idOf, KINDS, partners, people, placeOf, samePart, things, type Content, type Part, type Person, type Place } from "./model";
import type { FurnitureOutline, ScenarioParts, World } from "../schemas";

export type Shown = { selected: Part | null; wrong: Set<string>; pending: Place | null; cross: boolean };
export type Hit = { part: Part; turn: boolean };

const GOAL = 0.3; // radius with which goals are drawn, m
const NEAR = 9; // pixels within which a press counts
const HANDLE = 26; // pixels from the rim to the handle that turns

export class Sketch extends Painter {
  #place = document.createElement("canvas");
  #drawn = "";
  #radii: Map<string, number>;
  #models: Map<string, FurnitureOutline>;

  constructor(canvas: HTMLCanvasElement, readonly world: World, readonly parts: ScenarioParts) {
    super(canvas);
    this.#radii = new Map(parts.types.map(({ name, radius }) => [name, radius]));
    this.#models = new Map(parts.things.map((one) => [one.name, one]));
  }

  override async dress(colours: Record<string, string>, plans: Plan[]): Promise<void> {
    await super.dress(colours, plans);
    this.#drawn = "";
  }

  radius(person: Person): number {
    return this.#radii.get((person.type ?? "adult").replace(/^human\//, "")) ?? 0.3;
  }

  /** The place on the map under a pixel. */
  at(px: number, py: number): Point {
    return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
  }

  sketch(content: Content, { selected, wrong, pending, cross }: Shown): void {
    this.#ground();
    const { pen, colours, parts } = this, crowd = people(content), number = new Map(crowd.map(({ name }, k) => [name, k]));
    for (const kind of ["static", "interactive"] as const) for (const thing of things(content, kind)) this.#thing(thing.model, thing.pos);
    content.robots.forEach(({ start, goal }) => {
      pen.setLineDash([2, 7]);
      this.line([[start[0], start[1]], [goal[0], goal[1]]], colours.goal, 1.5);
      pen.setLineDash([]);
    });
    crowd.forEach((person, k) => this.#way(person, selected !== null && selected.kind === "dynamic" && selected.number === k));
    for (const person of crowd) {
      for (const name of partners(person)) {
        const other = crowd[number.get(name) ?? -1];
        if (!other) continue;
        pen.setLineDash([3, 4]);
        this.line([[person.pos[0], person.pos[1]], [other.pos[0], other.pos[1]]], "#CC79A7", 2);
        pen.setLineDash([]);
      }
    }
    for (const { goal } of content.robots) {
      this.goal({ goal, tolerance: GOAL });
      this.#nose(goal, GOAL, colours.goal);
    }
    const shown = crowd.flatMap((person, k) => {
      const heading = facing(content, k), radius = this.radius(person), state = this.world.names.indexOf(doing(content, k));
      return crowdOf(person, radius).map(([x, y], j) => ({ x, y, heading, radius, id: j, state }));
    });
    this.people(this.world, shown);
    for (const { start: [x, y, heading = 0] } of content.robots) this.robot(parts.robot, { x, y, heading });
    if (pending) this.robot(parts.robot, { x: pending[0], y: pending[1], heading: pending[2] ?? 0 });
    for (const id of wrong) this.#wrong(content, id);
    this.#names(content, selected);
    if (selected) this.#selection(content, selected);
    if (cross) this.#cross();
    this.ruler();
  }

  /** The element that can be dragged at a pixel. */
  hit(content: Content, selected: Part | null, px: number, py: number): Hit | null {
    const [x, y] = this.at(px, py), reach = (radius: number) => Math.max(radius, NEAR / this.scale);
    if (selected && selected.key !== "waypoints") {
      const [hx, hy] = this.#handle(content, selected);
      if (Math.hypot(hx - px, hy - py) <= NEAR + 2) return { part: selected, turn: true };
    }
    const found = [...this.#all(content)].filter(({ place, radius }) => Math.hypot(place[0] - x, place[1] - y) <= reach(radius));
    const rank = ({ part, radius }: { part: Part; radius: number }) => (samePart(part, selected) ? -1 : part.kind === "static" || part.kind === "interactive" ? 10 + radius : radius);
    found.sort((a, b) => rank(a) - rank(b));
    return found.length ? { part: found[0].part, turn: false } : null;
  }

  *#all(content: Content): Generator<{ part: Part; place: Place; radius: number }> {
    for (let number = 0; number < content.robots.length; number++) {
      yield { part: { kind: "robots", number, key: "start", k: 0 }, place: content.robots[number].start, radius: this.parts.robot.radius };
      yield { part: { kind: "robots", number, key: "goal", k: 0 }, place: content.robots[number].goal, radius: GOAL };
    }
    for (const [number, person] of people(content).entries()) {
      for (const place of crowdOf(person, this.radius(person))) yield { part: { kind: "dynamic", number, key: "pos", k: 0 }, place, radius: this.radius(person) };
      for (const [k, place] of (person.waypoints ?? []).entries()) yield { part: { kind: "dynamic", number, key: "waypoints", k }, place, radius: 0.12 };
    }
    for (const kind of ["static", "interactive"] as const) {
      for (const [number, thing] of things(content, kind).entries()) yield { part: { kind, number, key: "pos", k: 0 }, place: thing.pos, radius: 0.8 * (this.#models.get(thing.model)?.radius ?? 0.3) };
    }
  }

  /** The map, drawn again only if the view has changed. */
  #ground(): void {
    const view = [this.x, this.y, this.scale, this.canvas.width, this.canvas.height, this.colours.ground].join();
    const { pen, canvas } = this;
    if (view !== this.#drawn) {
      this.ground(this.world.map);
      this.#zones();
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

  #zones(): void {
    const { pen, colours } = this;
    pen.setLineDash([1, 5]);
    for (const { polygon } of this.world.zones) for (const corners of polygon) this.line([...corners, corners[0]], colours.faint, 1);
    pen.setLineDash([]);
    pen.fillStyle = colours.faint;
    pen.font = "12px system-ui, sans-serif";
    for (const { label, polygon } of this.world.zones) {
      const corners = polygon.flat(), left = Math.min(...corners.map(([x]) => x)), top = Math.max(...corners.map(([, y]) => y));
      pen.fillText(label, this.sx(left) + 5, this.sy(top) + 15);
    }
  }

  #way(person: Person, strong: boolean): void {
    const { pen, colours } = this, points = (person.waypoints ?? []).map(([x, y]): Point => [x, y]);
    if (!points.length) return;
    const whole: Point[] = [[person.pos[0], person.pos[1]], ...points];
    pen.globalAlpha = strong ? 1 : 0.45;
    pen.setLineDash(person.waypoint_mode === 1 || person.waypoint_mode === undefined ? [2, 5] : []);
    this.line(whole, colours.pedestrian, strong ? 2.5 : 1.5);
    if (person.waypoint_mode === 0 && points.length > 1) this.line([points.at(-1)!, points[0]], colours.pedestrian, strong ? 2.5 : 1.5);
    pen.setLineDash([]);
    for (const [x, y] of points) this.disc(x, y, Math.max(0.09, 4 / this.scale), colours.ground, colours.pedestrian, 2);
    pen.globalAlpha = 1;
    if (!strong) return;
    pen.fillStyle = colours.ink;
    pen.font = "600 12px system-ui, sans-serif";
    points.forEach(([x, y], k) => pen.fillText(String(k + 1), this.sx(x) + 7, this.sy(y) - 7));
  }

  #thing(name: string, [x, y, heading = 0]: Place): void {
    const model = this.#models.get(name), { pen, colours } = this, c = Math.cos(heading), s = Math.sin(heading);
    const there = ([a, b]: number[]): Point => [x + c * a - s * b, y + s * a + c * b];
    if (!model) { this.disc(x, y, 0.3, null, colours.contact, 2); return; }
    for (const polygon of model.polygons) {
      const corners = polygon.map(there);
      this.line([...corners, corners[0]], colours.ink, 1);
      pen.fillStyle = colours.faint;
      pen.fill();
    }
    for (const disc of model.discs) this.disc(...there(disc), disc[2], colours.faint, colours.ink, 1);
  }

  #nose([x, y, heading = 0]: Place, radius: number, colour: string): void {
    this.line([[x + radius * Math.cos(heading), y + radius * Math.sin(heading)], [x + 1.7 * radius * Math.cos(heading), y + 1.7 * radius * Math.sin(heading)]], colour, 2.5);
  }

  #names(content: Content, selected: Part | null): void {
    const { pen, colours } = this, crowd = people(content);
    pen.font = "12px system-ui, sans-serif";
    pen.lineWidth = 3;
    for (const [k, person] of crowd.entries()) {
      if (crowd.length > 40 && !(selected?.kind === "dynamic" && selected.number === k)) continue;
      const [x, y] = [this.sx(person.pos[0]) + 0.8 * this.radius(person) * this.scale + 3, this.sy(person.pos[1]) - 0.8 * this.radius(person) * this.scale];
      const count = person.number_of_peds ?? 1, words = count > 1 ? `${person.name} × ${count}` : person.name;
      pen.strokeStyle = colours.ground;
      pen.strokeText(words, x, y);
      pen.fillStyle = colours.ink;
      pen.fillText(words, x, y);
    }
  }

  #wrong(content: Content, id: string): void {
    const [kind] = id.split(".");
    if (!KINDS.some((one) => one === kind)) return;
    for (const { part, place, radius } of this.#all(content)) {
      if (idOf(part) === id && (part.key === "pos" || part.key === "start")) this.disc(place[0], place[1], radius + 4 / this.scale, null, this.colours.contact, 3);
    }
  }

  #size(content: Content, part: Part): number {
    if (part.key === "waypoints") return 0.12;
    if (part.key === "goal") return GOAL;
    if (part.kind === "robots") return this.parts.robot.radius;
    return part.kind === "dynamic" ? this.radius(people(content)[part.number]) : this.#models.get(things(content, part.kind)[part.number].model)?.radius ?? 0.3;
  }

  /** The pixel at which the handle is that turns a part. */
  #handle(content: Content, part: Part): Point {
    const [x, y] = placeOf(content, part), heading = headingOf(content, part), far = this.#size(content, part) * this.scale + HANDLE;
    return [this.sx(x) + far * Math.cos(heading), this.sy(y) - far * Math.sin(heading)];
  }

  #selection(content: Content, part: Part): void {
    const { pen, colours } = this, [x, y] = placeOf(content, part), around = this.#size(content, part) + 5 / this.scale;
    this.disc(x, y, around, null, colours.ground, 5);
    this.disc(x, y, around, null, colours.robot, 2.5);
    if (part.key === "waypoints") return;
    const [hx, hy] = this.#handle(content, part), heading = headingOf(content, part);
    pen.beginPath();
    pen.moveTo(this.sx(x + around * Math.cos(heading)), this.sy(y + around * Math.sin(heading)));
    pen.lineTo(hx, hy);
    pen.strokeStyle = colours.robot;
    pen.lineWidth = 2;
    pen.stroke();
    pen.beginPath();
    pen.arc(hx, hy, 6, 0, TURN);
    pen.fillStyle = colours.ground;
    pen.fill();
    pen.stroke();
  }

  #cross(): void {
    const { pen, colours, width, height } = this;
    pen.strokeStyle = colours.contact;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(width / 2 - 12, height / 2); pen.lineTo(width / 2 + 12, height / 2);
    pen.moveTo(width / 2, height / 2 - 12); pen.lineTo(width / 2, height / 2 + 12);
    pen.stroke();
  }
}

/** Words for the selected element, read out when it changes. */
export function told(content: Content, part: Part): string {
  const [x, y] = placeOf(content, part);
  return `${called(content, part)} at ${x.toFixed(2)}, ${y.toFixed(2)}`;
}
