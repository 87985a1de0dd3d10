// Requests to the server and their responses.
import { useEffect, useState } from "preact/hooks";
import type * as schemas from "./schemas";

export type State = schemas.Run["state"];
export type Form = Record<string, unknown> & { suite?: string; planners?: string[] };
export type Run = Omit<schemas.Run, "form"> & { form: Form };
export type LiveForm = Omit<schemas.LiveEpisode, "label">;
/** A field of a form; `label` is shown in place of its name where a page sets it. */
export type Field = schemas.Field & { label?: string };
export type Kinds = Record<string, schemas.KindOfComponent>;
export type Cell = schemas.RowsPage["rows"][number][number];
/** Planners uploaded as code; `planner` is the name of their parameters, not of a preset's planner. */
export const isCode = ({ planner }: schemas.Planner) => planner.startsWith("own:");
/** Policies of this server: uploaded ones; the others were trained here. */
export const isOwn = ({ name }: schemas.Policy) => name.startsWith("own/");
export const isUploaded = (policy: schemas.Policy) => isOwn(policy) && !policy.run;

/** A request that the server refused, or that did not reach it. */
export class Problem extends Error {}

/** Dispatched when the server reports that the user is signed out. */
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

/** Discard a stored response that has changed on the server. */
export const forget = (path: string) => { kept.delete(path); forgotten.set(path, (forgotten.get(path) ?? 0) + 1); };

/** The response of the server at a path; an empty path sends no request. `keep`: it does not change while the server runs. */
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
