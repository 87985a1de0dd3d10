// Edits of a world that were not saved yet: the browser keeps them over a reload.
import type { Drawing } from "./drawing";
import { packed } from "./server";
import type { Piece, Zone } from "../schemas";

export type Unsaved = { version: string; cells: string; zones: Zone[]; furniture: Piece[]; time: number };

const key = (name: string) => `agora-world-${name}`;

export function unsaved(name: string): Unsaved | null {
  try {
    const found = JSON.parse(localStorage.getItem(key(name)) ?? "null") as Unsaved | null;
    return found && typeof found.version === "string" && typeof found.cells === "string" && Array.isArray(found.zones) && Array.isArray(found.furniture) ? found : null;
  } catch {
    return null;
  }
}

export async function remember(name: string, version: string, drawing: Drawing): Promise<void> {
  const kept: Unsaved = { version, cells: drawing.walled ? await packed(drawing.cells) : "", ...drawing.rest, time: Date.now() };
  try {
    localStorage.setItem(key(name), JSON.stringify(kept));
  } catch {
    return; // the browser keeps nothing, or no more
  }
}

export const forgetUnsaved = (name: string) => localStorage.removeItem(key(name));
