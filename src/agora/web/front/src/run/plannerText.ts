// A planner with parameters as a text, the way the command line takes it: NAME:key=value,key=value.

import type { Form } from "../api";

export type Chosen = { name: string; values: Record<string, string> };

export function textOf({ name, values }: Chosen): string {
  const given = Object.entries(values).filter(([, value]) => value.trim() !== "");
  return given.length ? `${name}:${given.map(([key, value]) => `${key}=${value.trim()}`).join(",")}` : name;
}

export function parsePlanner(text: string): Chosen {
  const [name, ...rest] = text.split(":");
  const parts = rest.join(":").split(/,(?=[^,=]+=)/).filter(Boolean).map((part) => part.split("="));
  return { name, values: Object.fromEntries(parts.map(([key, ...value]) => [key, value.join("=")])) };
}

/** The address of the page on which a run like this one can be asked for. */
export function addressOf({ suite = "", planners = [], ...more }: Form): string {
  const query = new URLSearchParams({ suite });
  for (const planner of planners) query.append("planner", planner);
  for (const name of ["stages", "episodes", "pedestrians", "seed"]) for (const value of [more[name] ?? []].flat()) query.append(name, String(value));
  return `/run?${query}`;
}
