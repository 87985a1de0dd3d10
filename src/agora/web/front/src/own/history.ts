// The changes of an edited file, so that they can be undone. Small steps of one kind, such as letters typed in one field, are one.

export type History<T> = { past: T[]; now: T; future: T[]; tag: string };
export type Step<T> = { do: "put"; content: T; tag?: string } | { do: "undo" } | { do: "redo" } | { do: "pause" };

const MOST = 200;

export function step<T>(history: History<T>, action: Step<T>): History<T> {
  const { past, now, future, tag } = history;
  switch (action.do) {
    case "pause": return tag ? { ...history, tag: "" } : history;
    case "undo": return past.length ? { past: past.slice(0, -1), now: past.at(-1)!, future: [now, ...future], tag: "" } : history;
    case "redo": return future.length ? { past: [...past, now], now: future[0], future: future.slice(1), tag: "" } : history;
    case "put": {
      const same = action.tag && action.tag === tag;
      return { past: same ? past : [...past.slice(-MOST), now], now: action.content, future: [], tag: action.tag ?? "" };
    }
  }
}
