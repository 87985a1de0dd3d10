// Requests about the drawing of a world; cells are sent as gzip in base64.
import { Problem } from "../api";
import type { KeptDrawing, Piece, Zone } from "../schemas";

/** Another user has changed the world since. */
export class Older extends Problem {}

export async function packed(cells: Uint8Array<ArrayBuffer>): Promise<string> {
  const whole = new Uint8Array(await new Response(new Blob([cells]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer());
  let text = "";
  for (let k = 0; k < whole.length; k += 0x8000) text += String.fromCharCode(...whole.subarray(k, k + 0x8000));
  return btoa(text);
}

export async function unpacked(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

/** Keep a drawing; without `cells` the walls stay as they are. @throws Older, Problem */
export async function keep(name: string, drawing: { version: string; zones: Zone[]; furniture: Piece[]; cells?: string }): Promise<KeptDrawing> {
  let answer: Response;
  try {
    answer = await fetch(`/api/worlds/${encodeURIComponent(name)}/drawing`, { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(drawing) });
  } catch {
    throw new Problem("The server does not answer; nothing was saved. Your edits stay in this browser.");
  }
  const said = (await answer.json().catch(() => ({}))) as KeptDrawing & { error?: string };
  if (answer.status === 409) throw new Older(said.error ?? "");
  if (!answer.ok) throw new Problem(said.error ?? `The server answered ${answer.status}; nothing was saved.`);
  return said;
}
