// Saves the user's files on the server: scenarios and suites.
import { Problem } from "../api";

/** A kind of files: `api` is the address of its files, `page` that of its list, and `is` tells a content of it from others. */
export type Kind<T> = { what: "scenario" | "suite"; api: string; page: string; suffix: string; is(content: unknown): content is T };
export type Saved<T> = { name: string; version: string; content: T; owner: string };

/** Another user has changed the file since, or uses its name; `present` is the current content, nothing if it was removed. */
export class Older<T> extends Problem {
  constructor(words: string, readonly present: Partial<Saved<T>>) { super(words); }
}

/** Keep a file, of its content or as a text. `version`: the one that was seen, empty for a new one. @throws Older, Problem */
export async function keep<T, K extends Saved<T>>({ api }: Kind<T>, name: string, content: T | string, version: string): Promise<K> {
  let answer: Response;
  try {
    answer = await fetch(`${api}/${encodeURIComponent(name)}`, {
      method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ content, version }),
    });
  } catch {
    throw new Problem("The server does not answer; nothing was saved. Your edits stay in this browser.");
  }
  const said = (await answer.json().catch(() => ({}))) as K & { error?: string; present?: Partial<K> };
  if (answer.status === 409) throw new Older<T>(said.error ?? "", said.present ?? {});
  if (!answer.ok) throw new Problem(said.error ?? `The server answered ${answer.status}; nothing was saved.`);
  return said;
}

/** Save a new file under a free name like this one. */
export async function keepAs<T, K extends Saved<T>>(kind: Kind<T>, stem: string, content: T | string): Promise<K> {
  for (let k = 1; ; k++) {
    try {
      return await keep<T, K>(kind, k === 1 ? stem : `${stem}-${k}`, content, "");
    } catch (problem) {
      if (!(problem instanceof Older)) throw problem;
    }
  }
}

/** A text as the name of a file. */
export const nameOf = (text: string, otherwise: string) =>
  text.replace(/\.(json|ya?ml)$/i, "").replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[-_]+|-+$/g, "").slice(0, 70) || otherwise;
