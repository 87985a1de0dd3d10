// The page on which a scenario is drawn.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { get, post, useGet, wordsOf } from "../api";
import { begin } from "../live/start";
import { types } from "../live/drive";
import { EditorHead } from "../own/EditorHead";
import { useEditing } from "../own/editing";
import { go } from "../router";
import { Elements, Problems, Sentences } from "./SidePanels";
import { Board, nudged, type BoardView } from "./Board";
import { Fields } from "./Fields";
import { has, idOf, without, type Part } from "./model";
import { SCENARIO, type Kept } from "./server";
import { told } from "./Sketch";
import type { Planner, ScenarioCheck, ScenarioParts, World } from "../schemas";

const LOOKS = 250; // ms after an edit at which the server looks at it

export function ScenarioPage({ name }: { name: string }) {
  const [kept, setKept] = useState<Kept | null>(null), [error, setError] = useState("");
  useEffect(() => {
    get<Kept>(`/api/scenarios/${encodeURIComponent(name)}`).then(setKept, (problem: unknown) => setError(wordsOf(problem)));
  }, [name]);
  const world = useGet<World>(kept ? `/api/worlds/${encodeURIComponent(kept.world)}` : "", true), parts = useGet<ScenarioParts>("/api/scenario-parts", true);
  const trouble = error || world.error || parts.error;
  if (trouble) return <><h1>{name}</h1><p class="bad" role="alert">{trouble}</p><p><a href="/scenarios">All scenarios</a></p></>;
  if (!kept || !world.data || !parts.data) return <><h1>{name}</h1><p class="faint" role="status">Opening …</p></>;
  return <Editor kept={kept} world={world.data} parts={parts.data} />;
}

function Editor({ kept, world, parts }: { kept: Kept; world: World; parts: ScenarioParts }) {
  const editing = useEditing(SCENARIO, kept), { now, act, put, say } = editing;
  const [selected, setSelected] = useState<Part | null>(null), [checked, setChecked] = useState<ScenarioCheck | null>(null);
  const board = useRef<BoardView>(null);
  const part = selected && has(now, selected) ? selected : null;
  const select = (next: Part | null) => { setSelected(next); act({ do: "pause" }); };

  useEffect(() => {
    let gone = false;
    const timer = setTimeout(() => {
      post<ScenarioCheck>("/api/scenarios/check", { content: now }).then((found) => { if (!gone) setChecked(found); }, (problem: unknown) => { if (!gone) say(wordsOf(problem)); });
    }, LOOKS);
    return () => { gone = true; clearTimeout(timer); };
  }, [now]);

  useLayoutEffect(() => { // a key may follow the last one before the browser paints
    const pressed = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      if (event.ctrlKey || event.metaKey || event.altKey || types(target) || !part) return;
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

  const wrong = new Set((checked?.problems ?? []).map(({ element }) => element).filter(Boolean));
  return (
    <>
      <EditorHead editing={editing} more={<small>in {world.origin === "own" ? <a href={`/worlds/${encodeURIComponent(world.name)}`}>{world.name}</a> : world.name}</small>} />
      <div class="columns editor">
        <div>
          <Board content={now} world={world} parts={parts} selected={part} wrong={wrong} view={board} put={put} select={select} />
          <p class="hidden" aria-live="polite">{part ? told(now, part) : ""}</p>
        </div>
        <div class="editor-side">
          {part && <Fields key={`${idOf(part)}.${part.key}.${part.k}`} content={now} part={part} parts={parts} put={put} select={select} />}
          <Problems checked={checked} select={select} />
          <Elements content={now} selected={part} checked={checked} select={select} />
        </div>
        <div class="editor-below">
          <Play name={kept.name} save={editing.save} ready={now.robots.length > 0} />
          <Sentences checked={checked} select={select} />
        </div>
      </div>
    </>
  );
}

/** The uses of a scenario. */
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
