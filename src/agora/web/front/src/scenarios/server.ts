// What the server says of worlds and scenarios.
import type { Colours, Extent, Plan, Point } from "../../../../viewer/templates/painter.js";
import { Problem, type Field } from "../api";
import type { Content } from "./model";

export type World = {
  name: string; origin: string; size: number[]; resolution: number; extent: Extent; map: Plan; colours: { light: Colours; dark: Colours };
  states: [string, string][]; names: string[];
};
export type WorldEntry = { name: string; origin: "library" | "imported" | "own"; size: number[]; missing: string };
export type Entry = { name: string; origin: "own" | "world"; world: string; robots: number; people: number; wrong: string; owner: string };
export type Fault = { text: string; element: string; place: Point | null };
export type Checked = { problems: Fault[]; sentences: { text: string; element: string }[] };
export type Kept = Checked & { name: string; world: string; version: string; content: Content; owner: string };
export type ThingModel = { name: string; radius: number; polygons: Point[][]; discs: number[][] };
export type Parts = {
  types: { name: string; radius: number; speed: number }[];
  states: { name: string; walks: boolean; talks: boolean }[];
  reactions: string[]; fields: Field[]; things: ThingModel[]; robot: { name: string; radius: number; outline: Point[] };
};

/** Somebody else has changed the scenario since; `present` is what is there, nothing where it is gone. */
export class Older extends Problem {
  constructor(words: string, readonly present: Partial<Kept>) { super(words); }
}

/** Keep a scenario. `version`: the one that was seen, empty for a new scenario. @throws Older, Problem */
export async function keep(name: string, content: Content | string, version: string): Promise<Kept> {
  let answer: Response;
  try {
    answer = await fetch(`/api/scenarios/${encodeURIComponent(name)}`, {
      method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ content, version }),
    });
  } catch {
    throw new Problem("The server does not answer; nothing was saved. Your edits stay in this browser.");
  }
  const said = (await answer.json().catch(() => ({}))) as Kept & { error?: string; present?: Partial<Kept> };
  if (answer.status === 409) throw new Older(said.error ?? "", said.present ?? {});
  if (!answer.ok) throw new Problem(said.error ?? `The server answered ${answer.status}; nothing was saved.`);
  return said;
}

/** Keep a new scenario under a name like this one that is free. */
export async function keepAs(stem: string, content: Content | string): Promise<Kept> {
  for (let k = 1; ; k++) {
    try {
      return await keep(k === 1 ? stem : `${stem}-${k}`, content, "");
    } catch (problem) {
      if (!(problem instanceof Older)) throw problem;
    }
  }
}

/** A text as the name of a scenario. */
export const nameOf = (text: string) => text.replace(/\.json$/, "").replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[-_]+|-+$/g, "").slice(0, 80) || "scenario";
