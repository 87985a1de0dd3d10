// Edits that were not saved yet: the browser keeps them over a reload.
import type { Content } from "./model";

export type Unsaved = { version: string; content: Content; time: number };

const key = (name: string) => `agora-scenario-${name}`;

export function unsaved(name: string): Unsaved | null {
  try {
    const found = JSON.parse(localStorage.getItem(key(name)) ?? "null") as Unsaved | null;
    return found && typeof found.version === "string" && Array.isArray(found.content?.robots) ? found : null;
  } catch {
    return null;
  }
}

export function remember(name: string, version: string, content: Content): void {
  try {
    localStorage.setItem(key(name), JSON.stringify({ version, content, time: Date.now() }));
  } catch {
    return; // the browser keeps nothing, or no more
  }
}

export const forgetUnsaved = (name: string) => localStorage.removeItem(key(name));
