// What was done to a scenario, so that it can be undone. Small steps of one kind, such as letters typed in one field, are one.
import type { Content } from "./model";

export type History = { past: Content[]; now: Content; future: Content[]; tag: string };
export type Step = { do: "put"; content: Content; tag?: string } | { do: "undo" } | { do: "redo" } | { do: "pause" } | { do: "begin"; past: Content[]; content: Content };

const MOST = 200;

export function step(history: History, action: Step): History {
  const { past, now, future, tag } = history;
  switch (action.do) {
    case "begin": return { past: action.past, now: action.content, future: [], tag: "" };
    case "pause": return tag ? { ...history, tag: "" } : history;
    case "undo": return past.length ? { past: past.slice(0, -1), now: past.at(-1)!, future: [now, ...future], tag: "" } : history;
    case "redo": return future.length ? { past: [...past, now], now: future[0], future: future.slice(1), tag: "" } : history;
    case "put": {
      const same = action.tag && action.tag === tag;
      return { past: same ? past : [...past.slice(-MOST), now], now: action.content, future: [], tag: action.tag ?? "" };
    }
  }
}
