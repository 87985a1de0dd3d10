// Edits that were not saved yet: the browser keeps them over a reload.

export type Unsaved<T> = { version: string; content: T; time: number };

const key = (what: string, name: string) => `agora-${what}-${name}`;

/** `is` tells whether something that was kept is a content of this kind. */
export function unsaved<T>(what: string, name: string, is: (content: unknown) => content is T): Unsaved<T> | null {
  try {
    const found = JSON.parse(localStorage.getItem(key(what, name)) ?? "null") as Unsaved<unknown> | null;
    return found && typeof found.version === "string" && is(found.content) ? { ...found, content: found.content } : null;
  } catch {
    return null;
  }
}

export function remember(what: string, name: string, version: string, content: unknown): void {
  try {
    localStorage.setItem(key(what, name), JSON.stringify({ version, content, time: Date.now() }));
  } catch {
    return; // the browser keeps nothing, or no more
  }
}

export const forgetUnsaved = (what: string, name: string) => localStorage.removeItem(key(what, name));
