// The drawing tools of a world, with the next step of each.
import type { Drawing } from "./drawing";

export type Tool = "select" | "wall" | "gap" | "room" | "block" | "pen" | "eraser" | "zone" | "thing";

export const TOOLS: { tool: Tool; words: string; key: string }[] = [
  { tool: "select", words: "Select", key: "v" },
  { tool: "wall", words: "Wall", key: "w" },
  { tool: "gap", words: "Door", key: "d" },
  { tool: "room", words: "Room", key: "r" },
  { tool: "block", words: "Block", key: "b" },
  { tool: "pen", words: "Pen", key: "p" },
  { tool: "eraser", words: "Eraser", key: "e" },
  { tool: "zone", words: "Zone", key: "z" },
  { tool: "thing", words: "Thing", key: "f" },
];

/** The kinds of zones that tasks and people of Agora know by name. */
export const CATEGORIES = ["room", "corridor", "entrance", "door", "forbidden", "waiting", "staff", "hall", "open", "queue", "aisle"];

export const STEPS: [number, string][] = [[0, "nothing"], [-1, "cells"], [0.1, "0.1 m"], [0.25, "0.25 m"], [0.5, "0.5 m"], [1, "1 m"]];

export function hint(tool: Tool, begun: boolean, drawing: Drawing): string {
  switch (tool) {
    case "wall": return begun ? "Press where this wall ends; the next one begins there. Shift keeps it straight, Esc ends it." : "Press where a wall begins, or drag from end to end.";
    case "gap": return begun ? "Press where the gap ends." : "Press on a wall where a door begins, and again where it ends: the wall between them is removed.";
    case "room": return begun ? "Press the opposite corner." : "Press one corner of a room, or drag from corner to corner: four walls.";
    case "block": return begun ? "Press the opposite corner." : "Press one corner of a filled block, or drag from corner to corner.";
    case "pen": return begun ? "Arrow keys draw; Enter ends the line." : "Hold and drag to draw.";
    case "eraser": return begun ? "Arrow keys erase; Enter stops erasing." : "Hold and drag to erase walls; the eraser is four times as wide as the thickness set above.";
    case "zone": return begun ? "Press one corner after another; pressing the first corner again, or Enter twice, closes the zone. Esc cancels it." : "Press the corners of a zone, one after another.";
    case "thing": return "Choose a model, and press where to place it; drag to turn it.";
    case "select":
      if (!drawing.canUndo && !drawing.rest.zones.length && !drawing.rest.furniture.length) return "Start with Room or Wall. Then cut gaps with Door, mark areas with Zone, and place furniture with Thing.";
      return "Press a zone or an object to select it; drag it or one of its corners to move it. Drag the ground to move the view.";
  }
}
