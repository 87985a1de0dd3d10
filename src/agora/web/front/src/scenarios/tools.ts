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
    case "robot": return pending ? "Now press where it is to go; drag to say how it is to stand there." : "Press where the robot starts, and drag to turn it.";
    case "person": return "Press where somebody stands; drag to turn them. Then Way says where they walk, Talk with whom they talk.";
    case "way": return person ? `Press where ${person} walks to, point after point. Esc ends it.` : "Press the person who is to walk.";
    case "partner": return person
      ? partners(people(content)[selected!.number]).length ? `Press another one who talks with ${person} too; Esc ends it.` : `Press the person with whom ${person} talks.`
      : "Press one of the people that should talk.";
    case "thing": return "Choose a thing, and press where it stands; drag to turn it.";
    case "select":
      if (!content.robots.length) return "Start with the robot: choose Robot, and press where it starts.";
      if (!people(content).length) return "Now choose Person, and place people in its path.";
      return "Press an element to choose it, drag it to move it, drag its ring's handle to turn it. Drag the ground to move the picture.";
  }
}
