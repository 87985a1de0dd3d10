// A scenario as in its file, and its edits: every function returns a new scenario.

export type Place = number[]; // x, y, and a heading or nothing
export type Robot = { start: Place; goal: Place };
export type Person = {
  name: string; pos: Place; waypoints?: Place[]; heading?: number; type?: string; state?: string; with?: string | string[];
  number_of_peds?: number; waypoint_mode?: number; [key: string]: unknown;
};
export type Thing = { name: string; model: string; pos: Place; [key: string]: unknown };
export type Obstacles = { static?: Thing[]; interactive?: Thing[]; dynamic?: Person[] };
export type Content = { robots: Robot[]; obstacles?: Obstacles; map?: string; [key: string]: unknown };
export type Kind = "robots" | "dynamic" | "static" | "interactive";
export type Key = "start" | "goal" | "pos" | "waypoints";

/** One place in a scenario: the start of a robot, the third waypoint of a person. `k` counts waypoints. */
export type Part = { kind: Kind; number: number; key: Key; k: number };

export const KINDS: Kind[] = ["robots", "dynamic", "static", "interactive"];

export const idOf = ({ kind, number }: Part) => `${kind}.${number}`;
export const samePart = (a: Part | null, b: Part | null) => a !== null && b !== null && idOf(a) === idOf(b) && a.key === b.key && a.k === b.k;
export const people = (content: Content): Person[] => content.obstacles?.dynamic ?? [];
export const things = (content: Content, kind: "static" | "interactive"): Thing[] => content.obstacles?.[kind] ?? [];
export const partners = (person: Person): string[] => (person.with === undefined || person.with === null ? [] : [person.with].flat());

/** The main part of an element, by its id. */
export function partOf(id: string): Part {
  const [kind, number] = id.split(".");
  return { kind: kind as Kind, number: Number(number), key: kind === "robots" ? "start" : "pos", k: 0 };
}

export function has(content: Content, { kind, number, key, k }: Part): boolean {
  if (number >= listOf(content, kind).length) return false;
  return key !== "waypoints" || k < (people(content)[number].waypoints ?? []).length;
}

const listOf = (content: Content, kind: Kind): unknown[] => (kind === "robots" ? content.robots : content.obstacles?.[kind] ?? []);

function withList(content: Content, kind: Kind, list: unknown[]): Content {
  return kind === "robots" ? { ...content, robots: list as Robot[] } : { ...content, obstacles: { ...content.obstacles, [kind]: list } };
}

export function placeOf(content: Content, { kind, number, key, k }: Part): Place {
  const one = listOf(content, kind)[number] as Record<string, unknown>;
  return key === "waypoints" ? (one.waypoints as Place[])[k] : (one[key] as Place);
}

/** Change an element; a value that is undefined takes its key away. */
export function changed(content: Content, { kind, number }: Part, values: Record<string, unknown>): Content {
  const edit = (one: unknown) => Object.fromEntries(Object.entries({ ...(one as object), ...values }).filter(([, value]) => value !== undefined));
  return withList(content, kind, listOf(content, kind).map((one, j) => (j === number ? edit(one) : one)));
}

/** Put a place elsewhere; its heading stays. */
export function movedTo(content: Content, part: Part, x: number, y: number): Content {
  const there = [rounded(x), rounded(y), ...placeOf(content, part).slice(2)];
  if (part.key !== "waypoints") return changed(content, part, { [part.key]: there });
  const points = people(content)[part.number].waypoints ?? [];
  return changed(content, part, { waypoints: points.map((point, j) => (j === part.k ? there : point)) });
}

/** Turn the element at a position. The heading of a person has its own key. */
export function turnedTo(content: Content, part: Part, heading: number): Content {
  if (part.key === "waypoints") return content;
  const [x, y] = placeOf(content, part), angle = rounded(heading);
  return part.kind === "dynamic" ? changed(content, part, { pos: [x, y], heading: angle }) : changed(content, part, { [part.key]: [x, y, angle] });
}

/** Remove a waypoint, or a whole element; conversations with a removed person end. */
export function without(content: Content, part: Part): Content {
  if (part.key === "waypoints") {
    const left = (people(content)[part.number].waypoints ?? []).filter((_, j) => j !== part.k);
    return changed(content, part, { waypoints: left.length ? left : undefined });
  }
  const gone = part.kind === "dynamic" ? people(content)[part.number].name : null;
  const rest = withList(content, part.kind, listOf(content, part.kind).filter((_, j) => j !== part.number));
  if (gone === null) return rest;
  return people(rest).reduce((found, person, j) => (partners(person).includes(gone) ? talksWith(found, j, partners(person).filter((name) => name !== gone)) : found), rest);
}

export function added(content: Content, kind: Kind, one: unknown): Content {
  return withList(content, kind, [...listOf(content, kind), one]);
}

/** A copy of an element next to it, under its own name. */
export function doubled(content: Content, part: Part): Content {
  const one = structuredClone(listOf(content, part.kind)[part.number]) as Record<string, unknown>, by = (place: Place) => [rounded(place[0] + 0.6), rounded(place[1] - 0.6), ...place.slice(2)];
  for (const key of ["start", "goal", "pos"]) if (one[key]) one[key] = by(one[key] as Place);
  if (one.waypoints) one.waypoints = (one.waypoints as Place[]).map(by);
  if (one.name) one.name = freeName(content, String(one.name).replace(/_?\d+$/, ""));
  return added(content, part.kind, one);
}

/** Set the partners of a person; a person left without a partner does what it would otherwise do. */
export function talksWith(content: Content, number: number, names: string[]): Content {
  const person = people(content)[number], talked = ["talking", "listening", "telling"].includes(person.state ?? "");
  const values = names.length ? { with: names.length === 1 ? names[0] : names } : { with: undefined, state: talked ? undefined : person.state };
  return changed(content, { kind: "dynamic", number, key: "pos", k: 0 }, values);
}

/** End the conversation of two people, whichever of them names the other. */
export function apart(content: Content, number: number, name: string): Content {
  const mine = people(content)[number], other = people(content).findIndex((one) => one.name === name);
  const without = (found: Content, k: number, whom: string) => (partners(people(found)[k]).includes(whom) ? talksWith(found, k, partners(people(found)[k]).filter((one) => one !== whom)) : found);
  return without(without(content, number, name), other, mine.name);
}

/** Rename a person, also in the conversations of others. */
export function renamed(content: Content, part: Part, name: string): Content {
  const before = String((listOf(content, part.kind)[part.number] as { name: string }).name), found = changed(content, part, { name });
  if (part.kind !== "dynamic") return found;
  return people(found).reduce((all, person, number) => {
    const names = partners(person);
    return names.includes(before) ? changed(all, { kind: "dynamic", number, key: "pos", k: 0 }, { with: typeof person.with === "string" ? name : names.map((one) => (one === before ? name : one)) }) : all;
  }, found);
}

export function freeName(content: Content, stem: string): string {
  const taken = new Set([...people(content), ...things(content, "static"), ...things(content, "interactive")].map(({ name }) => name));
  for (let k = 1; ; k++) if (!taken.has(`${stem}_${k}`)) return `${stem}_${k}`;
}

/** The partners of a person, whichever of them names the other. */
export function talkers(content: Content, number: number): Person[] {
  const person = people(content)[number];
  return people(content).filter((other) => other !== person && (partners(person).includes(other.name) || partners(other).includes(person.name)));
}

/** The activity of a person at the start of the episode; empty for a person that walks or stands. */
export const doing = (content: Content, number: number): string => people(content)[number].state ?? (talkers(content, number).length ? "talking" : "");

/** The heading of a person at the start of the episode. */
export function facing(content: Content, number: number): number {
  const person = people(content)[number], [x, y, angle = 0] = person.pos;
  if (person.heading !== undefined && person.heading !== null) return person.heading;
  if (angle) return angle;
  const company = talkers(content, number), ends = company.length ? company.map(({ pos }) => pos) : (person.waypoints ?? []).slice(0, 1);
  if (!ends.length) return 0;
  const [ex, ey] = [0, 1].map((axis) => ends.reduce((sum, end) => sum + end[axis], 0) / ends.length);
  return Math.hypot(ex - x, ey - y) > 1e-6 ? Math.atan2(ey - y, ex - x) : 0;
}

export function headingOf(content: Content, part: Part): number {
  return part.kind === "dynamic" ? facing(content, part.number) : placeOf(content, part)[2] ?? 0;
}

/** The places of the people of one entry: the first at its place, the others in rings about it. */
export function crowdOf(person: Person, radius: number): Place[] {
  const count = Math.min(Math.max(person.number_of_peds ?? 1, 1), 500), step = 2 * radius + 0.2, found: Place[] = [person.pos];
  const corner = (j: number) => [Math.cos((j * Math.PI) / 3), Math.sin((j * Math.PI) / 3)];
  for (let m = 1; found.length < count; m++) {
    for (let k = 0; k < 6 * m && found.length < count; k++) {
      const a = corner(Math.floor(k / m)), b = corner(Math.floor(k / m) + 1), share = k % m;
      found.push([0, 1].map((axis) => person.pos[axis] + step * (m * a[axis] + share * (b[axis] - a[axis]))));
    }
  }
  return found;
}

export const rounded = (value: number) => Math.round(value * 1000) / 1000;

/** The name of an element in lists. */
export function called(content: Content, { kind, number, key, k }: Part): string {
  if (kind === "robots") return (content.robots.length > 1 ? `robot ${number}` : "robot") + (key === "goal" ? ", goal" : "");
  const one = listOf(content, kind)[number] as { name: string };
  return key === "waypoints" ? `${one.name}, waypoint ${k + 1}` : one.name;
}
