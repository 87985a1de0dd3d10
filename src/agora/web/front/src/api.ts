// What the server can be asked for, and what it answers.
import { useEffect, useState } from "preact/hooks";

export type State = "queued" | "running" | "finished" | "failed" | "cancelled";
export type Form = Record<string, unknown> & { suite?: string; planners?: string[] };
export type Run = {
  id: string; kind: "bench" | "training"; title: string; state: State; done: number; total: number; message: string; stop: boolean; form: Form;
  created: string; started: string | null; ended: string | null; owner: string;
};
export type LiveForm = { suite: string; stage: string; episode: number; planner: string; seed: number | null; drive: boolean };
export type Live = {
  id: string; title: string; state: "starting" | "running" | "paused" | "ended" | "failed"; message: string; watchers: number;
  speed?: number; held?: boolean; form: LiveForm; owner: string;
};
export type Stage = { name: string; count: number; about?: string };
export type Suite = { name: string; kind: "library" | "suite" | "scenario"; description: string; stages: Stage[]; missing: string; path?: string };
export type Planner = {
  name: string; kind: "planner" | "preset"; planner: string; summary: string; label: string; needs: string[]; changes: Record<string, unknown>; learned: boolean; missing: string; path?: string;
};
export type Field = {
  name: string; label?: string; type: "number" | "whole" | "yes" | "choice" | "text" | "component" | "other"; words: string; default: unknown;
  required: boolean; least: number | null; most: number | null; above: boolean; choices: string[]; kind: string; help: string; shape: Shape | null;
};
/** How a value of several parts is put together: each is a single one as `of` says, a record or a component. */
export type Shape = {
  of: "number" | "whole" | "yes" | "choice" | "text" | "component" | "record" | "shares"; many: boolean; length: number; single: boolean; word: string;
  record: string; kind: string; choices: string[]; optional: boolean;
};
export type Component = { kind: string; name: string; summary: string; text: string; fields: Field[]; records: Record<string, { text: string; fields: Field[] }> };
export type Kinds = Record<string, { words: string; names: string[] }>;
export type Robot = {
  name: string; radius: number; outline: number[][]; kinematics: string; top_speed: number;
  lidar: { beams: number; range: number } | null; sensors: string[];
};
export type Result = { stage: string; episodes: number; reached: number; collided: number; late: number; seconds: number | null };
export type Card = {
  training: {
    label: string; method: string; planner: string; suite: string; stage: string; test: string; cannot: string;
    published: { stage: string; success: number; source: string; seconds?: number | null }[];
  };
  seeds: { seed: number; steps: number; results: Result[] }[];
};
export type Policy = {
  name: string; card: Card | null; run: string; planner: string; path: string;
  size?: number; label?: string; needs?: string[]; words?: string; wrong?: string; about?: Record<string, string>; period?: number; weights?: Record<string, number[]>;
};
/** Planners that somebody has brought along as code; `planner` is the name of their parameters, not of a preset's planner. */
export const isCode = ({ planner }: Planner) => planner.startsWith("own:");
/** Policies of this server, and those of them that somebody has brought along; the others of it were trained here. */
export const isOwn = ({ name }: Policy) => name.startsWith("own/");
export const isUploaded = (policy: Policy) => isOwn(policy) && !policy.run;
export type Cell = string | number | boolean | null;
export type Page = { total: number; columns: { name: string; unit: string }[]; rows: Cell[][]; few?: string[]; recorded?: string[] };

/** A request that the server refused, or that did not reach it. */
export class Problem extends Error {}

/** Told where the server says that nobody is signed in any more. */
export const SIGNED_OUT = "agora-signed-out";

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method, headers: body === undefined ? {} : { "Content-Type": "application/json" }, body: body === undefined ? null : JSON.stringify(body),
    });
  } catch {
    throw new Problem("The server does not answer. Is agora web still running?");
  }
  if (answer.status === 204) return undefined as T;
  const said: unknown = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : await answer.text();
  if (answer.ok) return said as T;
  if (answer.status === 401) dispatchEvent(new Event(SIGNED_OUT));
  const words = said !== null && typeof said === "object" && "error" in said ? String(said.error) : `The server answered ${answer.status}.`;
  throw new Problem(words);
}

export const get = <T>(path: string) => ask<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}) => ask<T>("POST", path, body);
export const patch = <T>(path: string, body: unknown) => ask<T>("PATCH", path, body);
export const remove = (path: string) => ask<void>("DELETE", path);
export const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const kept = new Map<string, unknown>(), forgotten = new Map<string, number>();

/** Ask anew, the next time, for what has changed on the server. */
export const forget = (path: string) => { kept.delete(path); forgotten.set(path, (forgotten.get(path) ?? 0) + 1); };

/** What the server says at a path; an empty path asks for nothing. `keep`: it does not change while the server runs. */
export function useGet<T>(path: string, keep = false): { data: T | undefined; error: string } {
  const [found, setFound] = useState<{ path: string; data?: T; error: string }>({ path: "", error: "" });
  useEffect(() => {
    let gone = false;
    const times = forgotten.get(path); // an answer on its way is of before the change
    if (path && !kept.has(path)) {
      get<T>(path).then(
        (data) => { if (keep && forgotten.get(path) === times) kept.set(path, data); if (!gone) setFound({ path, data, error: "" }); },
        (error: unknown) => { if (!gone) setFound({ path, error: wordsOf(error) }); },
      );
    }
    return () => { gone = true; };
  }, [path, keep]);
  if (kept.has(path)) return { data: kept.get(path) as T, error: "" };
  return found.path === path ? { data: found.data, error: found.error } : { data: undefined, error: "" };
}
