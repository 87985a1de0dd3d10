// The tools of the board: the effects of a press on the map.
import type { Content, Part } from "./model";
import { partners, people } from "./model";

export type Tool = "select" | "robot" | "person" | "way" | "partner" | "thing";

export const TOOLS: { tool: Tool; words: string; key: string }[] = [
  { tool: "select", words: "Select", key: "v" },
  { tool: "robot", words: "Robot", key: "r" },
  { tool: "person", words: "Person", key: "p" },
  { tool: "way", words: "Way", key: "w" },
  { tool: "partner", words: "Talk", key: "t" },
  { tool: "thing", words: "Thing", key: "f" },
];

/** The next step with a tool, in a sentence. */
export function hint(tool: Tool, content: Content, selected: Part | null, pending: boolean): string {
  const person = selected?.kind === "dynamic" ? people(content)[selected.number]?.name : undefined;
  switch (tool) {
    case "robot": return pending ? "Now press at the robot's goal; drag to set its heading there." : "Press where the robot starts; drag to set its heading.";
    case "person": return "Press where a person stands; drag to set the heading. Then draw the person's path with Way, and choose conversation partners with Talk.";
    case "way": return person ? `Press the points on the path of ${person}, one after another. Esc ends the path.` : "Press the person whose path you want to draw.";
    case "partner": return person
      ? partners(people(content)[selected!.number]).length ? `Press another person to join the conversation of ${person}; Esc ends the selection.` : `Press the person with whom ${person} talks.`
      : "Press one of the people who should talk.";
    case "thing": return "Choose a model, and press where to place it; drag to turn it.";
    case "select":
      if (!content.robots.length) return "Start with the robot: choose Robot, and press where it starts.";
      if (!people(content).length) return "Now choose Person, and place people in its path.";
      return "Press an element to select it, drag it to move it, or drag the handle on its ring to turn it. Drag the ground to move the view.";
  }
}
