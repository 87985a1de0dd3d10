// An edited file of the user: its history, and how it is saved if another user may have changed it.
import { useEffect, useLayoutEffect, useMemo, useReducer, useState } from "preact/hooks";
import { useMe } from "../account/me";
import { forget, wordsOf } from "../api";
import { types } from "../live/drive";
import { go } from "../router";
import { step, type History, type Step } from "./history";
import { forgetUnsaved, remember, unsaved } from "./unsaved";
import { keep, keepAs, Older, type Kind, type Saved } from "./server";

export type Editing<T> = {
  name: string; kind: Kind<T>; history: History<T>; now: T; dirty: boolean; state: "idle" | "saving" | "failed"; trouble: string; older: Older<T> | null;
  /** Time of unsaved edits that were restored after a reload; 0 for none. */
  again: number;
  /** Its owner, empty for none; and whether that is the user, whose edits are otherwise saved as a copy. */
  owner: string; mine: boolean;
  act(action: Step<T>): void; put(content: T, tag?: string): void; save(): Promise<boolean>; say(trouble: string): void;
  throwAway(): void; keepMine(): Promise<void>; takeTheirs(): void; keepAnyhow(): Promise<void>;
};

export function useEditing<T>(kind: Kind<T>, kept: Saved<T>): Editing<T> {
  const { name, owner } = kept, { what } = kind, mine = useMe().owns(owner);
  const found = useMemo(() => {
    const left = unsaved(what, name, kind.is);
    return left && JSON.stringify(left.content) !== JSON.stringify(kept.content) ? left : null;
  }, []);
  const [history, act] = useReducer<History<T>, Step<T>>(step, { past: found ? [kept.content] : [], now: found?.content ?? kept.content, future: [], tag: "" });
  const [version, setVersion] = useState(found?.version ?? kept.version), [saved, setSaved] = useState(JSON.stringify(kept.content));
  const [state, setState] = useState<Editing<T>["state"]>("idle"), [trouble, say] = useState(""), [older, setOlder] = useState<Older<T> | null>(null);
  const [again, setAgain] = useState(found?.time ?? 0);
  const { now } = history, dirty = JSON.stringify(now) !== saved;
  const put = (content: T, tag?: string) => { act({ do: "put", content, tag }); setAgain(0); };
  const settle = (content: T, there: string) => {
    setVersion(there);
    setSaved(JSON.stringify(content));
    setOlder(null);
    setState("idle");
    forget("/api/suites");
  };

  useEffect(() => {
    if (dirty) remember(what, name, version, now);
    else forgetUnsaved(what, name);
  }, [now, dirty, version]);

  const send = async (onto: string): Promise<boolean> => {
    setState("saving");
    say("");
    try {
      settle(now, (await keep(kind, name, now, onto)).version);
      return true;
    } catch (problem) {
      setState("failed");
      if (problem instanceof Older) setOlder(problem);
      else say(wordsOf(problem));
      return false;
    }
  };
  const save = async () => {
    if (!dirty) return true;
    if (mine) return send(version);
    await keepMine();
    return false;
  };
  const keepMine = async () => {
    try {
      const copy = await keepAs(kind, `${name}-mine`, now);
      forgetUnsaved(what, name);
      forget("/api/suites");
      go(`${kind.page}/${copy.name}`);
    } catch (problem) { say(wordsOf(problem)); }
  };
  const takeTheirs = () => {
    const { content, version: there } = older?.present ?? {};
    if (content === undefined || there === undefined) return;
    put(content);
    settle(content, there);
  };
  const throwAway = () => { act({ do: "undo" }); setVersion(kept.version); setAgain(0); };

  useLayoutEffect(() => { // a key may follow the last one before the browser paints
    const pressed = (event: KeyboardEvent) => {
      const key = event.key.toLowerCase();
      if (!(event.ctrlKey || event.metaKey)) return;
      if (key === "s") { event.preventDefault(); void save(); return; }
      if (types(event.target)) return;
      if (key === "z") { event.preventDefault(); act({ do: event.shiftKey ? "redo" : "undo" }); }
      if (key === "y") { event.preventDefault(); act({ do: "redo" }); }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
  useEffect(() => {
    const leave = () => { if (dirty) remember(what, name, version, now); };
    addEventListener("beforeunload", leave);
    return () => removeEventListener("beforeunload", leave);
  });

  return { name, kind, history, now, dirty, state, trouble, older, again, owner, mine, act, put, save, say, throwAway, keepMine, takeTheirs, keepAnyhow: async () => { await send(""); } };
}
