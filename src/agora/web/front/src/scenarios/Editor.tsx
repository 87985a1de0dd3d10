// The page on which a scenario is drawn.
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { forget, get, post, useGet, wordsOf, type Planner } from "../api";
import { useMe } from "../account/me";
import { begin } from "../live/begin";
import { types } from "../live/drive";
import { go } from "../place";
import { Elements, Problems, Sentences } from "./Around";
import { Board, nudged, type BoardView } from "./Board";
import { Fields } from "./Fields";
import { step } from "./history";
import { forgetUnsaved, remember, unsaved } from "./kept";
import { has, idOf, without, type Content, type Part } from "./model";
import { keep, keepAs, Older, type Checked, type Kept, type Parts, type World } from "./server";
import { told } from "./Sketch";

const EMPTY: Content = { robots: [] };
const LOOKS = 250; // ms after an edit at which the server looks at it

export function ScenarioPage({ name }: { name: string }) {
  const [kept, setKept] = useState<Kept | null>(null), [error, setError] = useState("");
  useEffect(() => {
    get<Kept>(`/api/scenarios/${encodeURIComponent(name)}`).then(setKept, (problem: unknown) => setError(wordsOf(problem)));
  }, [name]);
  const world = useGet<World>(kept ? `/api/worlds/${encodeURIComponent(kept.world)}` : "", true), parts = useGet<Parts>("/api/scenario-parts", true);
  const trouble = error || world.error || parts.error;
  if (trouble) return <><h1>{name}</h1><p class="bad" role="alert">{trouble}</p><p><a href="/scenarios">All scenarios</a></p></>;
  if (!kept || !world.data || !parts.data) return <><h1>{name}</h1><p class="faint" role="status">Opening …</p></>;
  return <Editor kept={kept} world={world.data} parts={parts.data} />;
}

function Editor({ kept, world, parts }: { kept: Kept; world: World; parts: Parts }) {
  const { name, owner } = kept, { me, may, owns } = useMe(), mine = owns(owner);
  const [history, act] = useReducer(step, { past: [], now: EMPTY, future: [], tag: "" });
  const [version, setVersion] = useState(kept.version), [saved, setSaved] = useState(JSON.stringify(kept.content));
  const [selected, setSelected] = useState<Part | null>(null), [checked, setChecked] = useState<Checked | null>(null);
  const [state, setState] = useState<"idle" | "saving" | "failed">("idle"), [trouble, setTrouble] = useState(""), [older, setOlder] = useState<Older | null>(null);
  const [again, setAgain] = useState(0), board = useRef<BoardView>(null), begun = useRef(false);
  useEffect(() => {
    const found = unsaved(name);
    if (found && JSON.stringify(found.content) !== JSON.stringify(kept.content)) {
      act({ do: "begin", past: [kept.content], content: found.content });
      setVersion(found.version);
      setAgain(found.time);
    } else act({ do: "begin", past: [], content: kept.content });
    begun.current = true;
  }, []);

  const { now } = history, dirty = history.now !== EMPTY && JSON.stringify(now) !== saved;
  const part = selected && has(now, selected) ? selected : null;
  const put = (content: Content, tag?: string) => { act({ do: "put", content, tag }); setAgain(0); };
  const select = (next: Part | null) => { setSelected(next); act({ do: "pause" }); };

  useEffect(() => {
    if (!begun.current || now === EMPTY) return;
    if (dirty) remember(name, version, now);
    else forgetUnsaved(name);
  }, [now, dirty, version]);

  useEffect(() => {
    if (now === EMPTY) return;
    let gone = false;
    const timer = setTimeout(() => {
      post<Checked>("/api/scenarios/check", { content: now }).then((found) => { if (!gone) setChecked(found); }, (problem: unknown) => { if (!gone) setTrouble(wordsOf(problem)); });
    }, LOOKS);
    return () => { gone = true; clearTimeout(timer); };
  }, [now]);

  const save = async (): Promise<boolean> => {
    if (!dirty) return true;
    if (!mine) { await mineAsCopy(); return false; }
    setState("saving");
    setTrouble("");
    const sent = JSON.stringify(now);
    try {
      const answer = await keep(name, now, version);
      forget("/api/suites");
      setVersion(answer.version);
      setSaved(sent);
      setOlder(null);
      setState("idle");
      return true;
    } catch (problem) {
      setState("failed");
      if (problem instanceof Older) setOlder(problem);
      else setTrouble(wordsOf(problem));
      return false;
    }
  };
  const mineAsCopy = async () => {
    try {
      const copy = await keepAs(`${name}-mine`, now);
      forgetUnsaved(name);
      forget("/api/suites");
      go(`/scenarios/${copy.name}`);
    } catch (problem) { setTrouble(wordsOf(problem)); }
  };
  const takeTheirs = (present: Kept) => {
    put(present.content);
    setVersion(present.version);
    setSaved(JSON.stringify(present.content));
    setOlder(null);
    setState("idle");
  };
  const keepAnyhow = async () => {
    try {
      const answer = await keep(name, now, "");
      setVersion(answer.version);
      setSaved(JSON.stringify(now));
      setOlder(null);
      setState("idle");
    } catch (problem) { setTrouble(wordsOf(problem)); }
  };

  useLayoutEffect(() => { // a key may follow the last one before the browser paints
    const pressed = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null, command = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
      if (command && key === "s") { event.preventDefault(); void save(); return; }
      if (types(target)) return;
      if (command && key === "z") { event.preventDefault(); act({ do: event.shiftKey ? "redo" : "undo" }); return; }
      if (command && key === "y") { event.preventDefault(); act({ do: "redo" }); return; }
      if (command || event.altKey || !part) return;
      if (event.key === "Delete" || event.key === "Backspace") {
        event.preventDefault();
        put(without(now, part));
        select(part.key === "waypoints" ? { ...part, key: "pos", k: 0 } : null);
        return;
      }
      if (event.key.startsWith("Arrow") && !target?.closest(".moves")) return;
      const moved = nudged(now, part, event.key, event.shiftKey);
      if (moved) { event.preventDefault(); put(moved, `keys.${idOf(part)}.${part.key}.${part.k}`); }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => { if (dirty) remember(name, version, now); void event; };
    addEventListener("beforeunload", leave);
    return () => removeEventListener("beforeunload", leave);
  });

  const wrong = new Set((checked?.problems ?? []).map(({ element }) => element).filter(Boolean));
  return (
    <>
      <div class="editor-head">
        <h1>{name} <small>in {world.name}</small></h1>
        <span class="bar-part">
          <button type="button" class="first" disabled={!dirty || state === "saving" || !may("run")} title="Ctrl+S" onClick={() => void save()}>{mine ? "Save" : "Save as a copy"}</button>
          <span role="status" class={state === "failed" ? "bad" : dirty ? "" : "good"}>{state === "saving" ? "saving …" : older ? "not saved: changed elsewhere" : state === "failed" ? "not saved" : dirty ? "unsaved edits" : "saved"}</span>
          <button type="button" disabled={!history.past.length} title="Ctrl+Z" onClick={() => act({ do: "undo" })}>Undo</button>
          <button type="button" disabled={!history.future.length} title="Ctrl+Shift+Z" onClick={() => act({ do: "redo" })}>Redo</button>
          <a class="button" href={`/api/scenarios/${encodeURIComponent(name)}/file`} download={`${name}.json`}>Download</a>
          <a class="button" href="/scenarios">All scenarios</a>
        </span>
      </div>
      {me?.accounts && !mine && <p class="notice-line">{owner ? `This scenario is ${owner}'s.` : "This scenario is nobody's."} {may("run") ? "Your edits are kept as a copy of yours." : `Your role is ${me.role}: nothing that you try here is kept.`}</p>}
      {trouble && <p class="bad" role="alert">{trouble}</p>}
      {older && (
        <div class="lost" role="alert">
          <p>{older.present.content ? "Somebody else has saved this scenario since you opened it. Nothing of yours is lost, and nothing of theirs was overwritten." : "Somebody has removed this scenario since you opened it."}</p>
          {older.present.content
            ? <><button type="button" onClick={() => void mineAsCopy()}>Keep mine as a copy</button> <button type="button" onClick={() => takeTheirs(older.present as Kept)}>Take theirs</button></>
            : <button type="button" onClick={() => void keepAnyhow()}>Keep mine</button>}
        </div>
      )}
      {again > 0 && dirty && !older && (
        <p class="notice-line" role="status">Your unsaved edits of {new Date(again).toLocaleString()} are here again. <button type="button" class="link" onClick={() => { act({ do: "undo" }); setVersion(kept.version); setAgain(0); }}>Throw them away</button></p>
      )}
      <div class="columns editor">
        <div>
          {now !== EMPTY && <Board content={now} world={world} parts={parts} selected={part} wrong={wrong} view={board} put={put} select={select} />}
          <p class="hidden" aria-live="polite">{part ? told(now, part) : ""}</p>
        </div>
        <div class="editor-side">
          {part && <Fields key={`${idOf(part)}.${part.key}.${part.k}`} content={now} part={part} parts={parts} put={put} select={select} />}
          <Problems checked={checked} select={select} />
          <Elements content={now} selected={part} checked={checked} select={select} />
        </div>
        <div class="editor-below">
          <Play name={name} save={save} ready={now.robots.length > 0} />
          <Sentences checked={checked} select={select} />
        </div>
      </div>
    </>
  );
}

/** What a scenario is for. */
function Play({ name, save, ready }: { name: string; save(): Promise<boolean>; ready: boolean }) {
  const planners = useGet<Planner[]>("/api/planners", true).data ?? [];
  const [planner, setPlanner] = useState("dwa"), [error, setError] = useState(""), [busy, setBusy] = useState(false);
  const suite = `own/${name}`;
  const watch = async (drive: boolean) => {
    setBusy(true);
    setError("");
    try {
      if (await save()) await begin({ suite, stage: "", episode: 0, planner, seed: null, drive });
    } catch (problem) { setError(wordsOf(problem)); }
    setBusy(false);
  };
  const run = async () => { if (await save()) go(`/run?suite=${encodeURIComponent(suite)}&planner=dwa&planner=orca&planner=social_force`); };
  return (
    <section class="card play" aria-labelledby="play">
      <h2 id="play">Play it</h2>
      <div class="bar-part">
        <label>Planner <select value={planner} onChange={(event) => setPlanner(event.currentTarget.value)}>
          {planners.filter(({ missing }) => !missing).map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}
        </select></label>
        <button type="button" class="first" disabled={busy || !ready} onClick={() => void watch(false)}>Watch it</button>
        <button type="button" disabled={busy || !ready} onClick={() => void watch(true)}>Drive in it</button>
        <button type="button" disabled={busy || !ready} onClick={() => void run()}>Run planners on it</button>
        {!ready && <span class="faint">once there is a robot</span>}
      </div>
      {error && <p class="bad" role="alert">{error}</p>}
    </section>
  );
}
