// What the server says of worlds and scenarios.
import type { Colours, Extent, Plan, Point } from "../../../../viewer/templates/painter.js";
import type { Field } from "../api";
import type { Kind, Saved } from "../own/server";
import type { Content } from "./model";

export type World = {
  name: string; origin: string; size: number[]; resolution: number; extent: Extent; map: Plan; zones: { label: string; polygon: Point[][] }[]; colours: { light: Colours; dark: Colours };
  states: [string, string][]; names: string[];
};
export type WorldEntry = { name: string; origin: "library" | "imported" | "own"; size: number[]; missing: string; owner: string };
export type Entry = { name: string; origin: "own" | "world"; world: string; robots: number; people: number; wrong: string; owner: string };
export type Fault = { text: string; element: string; place: Point | null };
export type Checked = { problems: Fault[]; sentences: { text: string; element: string }[] };
export type Kept = Checked & Saved<Content> & { world: string };
export type ThingModel = { name: string; radius: number; polygons: Point[][]; discs: number[][] };
export type Parts = {
  types: { name: string; radius: number; speed: number }[];
  states: { name: string; walks: boolean; talks: boolean }[];
  reactions: string[]; fields: Field[]; things: ThingModel[]; robot: { name: string; radius: number; outline: Point[] };
};

/** Scenarios, as files of one's own. */
export const SCENARIO: Kind<Content> = {
  what: "scenario", api: "/api/scenarios", page: "/scenarios", suffix: ".json",
  is: (content): content is Content => Array.isArray((content as Content | null)?.robots),
};
