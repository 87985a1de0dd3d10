// The page on which a world is drawn.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useMe } from "../account/me";
import { forget, get, post, useGet, wordsOf } from "../api";
import { types } from "../live/drive";
import { keepAs, nameOf } from "../own/server";
import { go } from "../router";
import { SCENARIO } from "../scenarios/server";
import { SelectionFields, Parts, without } from "./SelectionFields";
import { Drawing, type Chosen } from "./drawing";
import { forgetUnsaved, remember, unsaved, type Unsaved } from "./unsaved";
import { keep, Older, packed, unpacked } from "./server";
import { moved, replaced, WorldBoard, type WorldBoardView } from "./WorldBoard";
import type { KeptDrawing, ScenarioParts, World, WorldDrawing, WorldEntry } from "../schemas";

type Opened = { sent: WorldDrawing; drawing: Drawing; version: string; again: Unsaved | null };
const WAITS = 600; // ms after an edit at which the browser keeps it

async function opened(name: string): Promise<Opened> {
  const sent = await get<WorldDrawing>(`/api/worlds/${encodeURIComponent(name)}/drawing`), drawing = new Drawing(sent, await unpacked(sent.cells)), found = unsaved(name);
  if (!found) return { sent, drawing, version: sent.version, again: null };
  if (found.cells) {
    const cells = await unpacked(found.cells);
    if (cells.length === drawing.cells.length) drawing.all(cells);
  }
  drawing.put({ zones: found.zones, furniture: found.furniture });
  return { sent, drawing, version: found.version, again: found };
}

export function WorldPage({ name }: { name: string }) {
  const [found, setFound] = useState<Opened | null>(null), [error, setError] = useState(""), [times, setTimes] = useState(0);
  useEffect(() => { opened(name).then(setFound, (problem: unknown) => setError(wordsOf(problem))); }, [name, times]);
  const parts = useGet<ScenarioParts>("/api/scenario-parts", true), trouble = error || parts.error;
  if (trouble) return <><h1>{name}</h1><p class="bad" role="alert">{trouble}</p><p><a href="/worlds">All worlds</a></p></>;
  if (!found || !parts.data) return <><h1>{name}</h1><p class="faint" role="status">Opening …</p></>;
  return <Editor key={times} {...found} parts={parts.data} reopen={() => { forgetUnsaved(name); setFound(null); setTimes(times + 1); }} />;
}

function Editor({ sent, drawing, version: begun, again, parts, reopen }: Opened & { parts: ScenarioParts; reopen(): void }) {
  const { name } = sent, { me, may, owns } = useMe(), mine = owns(sent.owner), [, setEdits] = useState(0), [chosen, setChosen] = useState<Chosen | null>(null);
  const version = useRef(begun), board = useRef<WorldBoardView>(null), waits = useRef(0), view = useRef({ again: again !== null });
  const [state, setState] = useState<"idle" | "saving" | "failed">("idle"), [trouble, setTrouble] = useState(""), [older, setOlder] = useState(false), [saved, setSaved] = useState<KeptDrawing | null>(null);
  const { zones, furniture } = drawing.rest;
  const there = chosen && chosen.number < (chosen.kind === "zone" ? zones : furniture).length ? chosen : null;
  const changed = () => {
    view.current.again = false;
    setEdits((count) => count + 1);
    board.current?.redraw();
    clearTimeout(waits.current);
    waits.current = window.setTimeout(() => { waits.current = 0; if (drawing.dirty) void remember(name, version.current, drawing); else forgetUnsaved(name); }, WAITS);
  };
  const save = async (): Promise<boolean> => {
    if (!drawing.dirty) return true;
    if (!mine) { await mineAsCopy(); return false; }
    setState("saving");
    setTrouble("");
    try {
      const answer = await keep(name, { version: version.current, ...drawing.rest, ...(drawing.walled ? { cells: await packed(drawing.cells) } : {}) });
      version.current = answer.version;
      drawing.saved();
      clearTimeout(waits.current);
      waits.current = 0;
      forgetUnsaved(name);
      forget(`/api/worlds/${encodeURIComponent(name)}`);
      setSaved(answer);
      setOlder(false);
      setState("idle");
      return true;
    } catch (problem) {
      setState("failed");
      if (problem instanceof Older) setOlder(true);
      else setTrouble(wordsOf(problem));
      return false;
    }
  };
  const mineAsCopy = async () => {
    try {
      const copy = await made(`${name}-mine`, name), theirs = await get<WorldDrawing>(`/api/worlds/${encodeURIComponent(copy)}/drawing`);
      await keep(copy, { version: theirs.version, ...drawing.rest, cells: await packed(drawing.cells) });
      forgetUnsaved(name);
      go(`/worlds/${copy}`);
    } catch (problem) { setTrouble(wordsOf(problem)); }
  };
  const scenario = async () => {
    if (!await save()) return;
    try { go(`/scenarios/${(await keepAs(SCENARIO, nameOf(`in-${name}`, "scenario"), { map: name, robots: [], obstacles: { static: [], interactive: [], dynamic: [] } })).name}`); } catch (problem) { setTrouble(wordsOf(problem)); }
  };

  useLayoutEffect(() => { // a key may follow the last one before the browser paints
    const pressed = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null, command = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
      if (command && key === "s") { event.preventDefault(); void save(); return; }
      if (types(target)) return;
      if (command && (key === "z" || key === "y")) { event.preventDefault(); if (key === "y" || event.shiftKey) drawing.redo(); else drawing.undo(); changed(); return; }
      if (command || event.altKey || !there) return;
      if (event.key === "Delete" || event.key === "Backspace") { event.preventDefault(); without(drawing, there); setChosen(null); changed(); return; }
      const by = event.shiftKey ? 0.5 : 0.1, ways: Record<string, [number, number]> = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, by], ArrowDown: [0, -by] };
      if (event.key in ways && target?.closest(".moves")) {
        event.preventDefault();
        drawing.put(moved(drawing, there, ways[event.key], (point) => drawing.inside([Math.round(point[0] * 1000) / 1000, Math.round(point[1] * 1000) / 1000])), `keys.${there.kind}.${there.number}.${there.corner}`);
        changed();
      } else if ("[]{}".includes(event.key) && there.kind === "piece") {
        event.preventDefault();
        const piece = furniture[there.number], turn = (event.key === "[" || event.key === "{" ? 1 : -1) * (event.shiftKey ? Math.PI / 4 : Math.PI / 36);
        drawing.put({ furniture: replaced(furniture, there.number, { ...piece, heading: Math.atan2(Math.sin(piece.heading + turn), Math.cos(piece.heading + turn)) }) }, `turn.${there.number}`);
        changed();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });

  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => { if (waits.current && drawing.dirty) event.preventDefault(); }; // the browser has not kept the last edit yet
    addEventListener("beforeunload", leave);
    return () => removeEventListener("beforeunload", leave);
  }, []);

  return (
    <>
      <div class="editor-head">
        <h1>{name} <small>{(drawing.width).toFixed(1)} × {(drawing.height).toFixed(1)} m, cells of {drawing.resolution} m</small></h1>
        <span class="bar-part">
          <button type="button" class="first" disabled={!drawing.dirty || state === "saving" || !may("run")} title="Ctrl+S" onClick={() => void save()}>{mine ? "Save" : "Save as a copy"}</button>
          <span role="status" class={state === "failed" ? "bad" : drawing.dirty ? "" : "good"}>{state === "saving" ? "saving …" : older ? "not saved: changed elsewhere" : state === "failed" ? "not saved" : drawing.dirty ? "unsaved edits" : "saved"}</span>
          <button type="button" disabled={!drawing.canUndo} title="Ctrl+Z" onClick={() => { drawing.undo(); changed(); }}>Undo</button>
          <button type="button" disabled={!drawing.canRedo} title="Ctrl+Shift+Z" onClick={() => { drawing.redo(); changed(); }}>Redo</button>
          <a class="button" href={`/api/worlds/${encodeURIComponent(name)}/file`} download={`${name}.zip`}>Download</a>
          <a class="button" href="/worlds">All worlds</a>
        </span>
      </div>
      {me?.accounts && !mine && <p class="notice-line">{sent.owner ? `This world is ${sent.owner}'s.` : "This world has no owner."} {may("run") ? "Your edits are saved as your own copy." : `Your role is ${me.role}: your edits here cannot be saved.`}</p>}
      {trouble && <p class="bad" role="alert">{trouble}</p>}
      {older && (
        <div class="lost" role="alert">
          <p>Another user has saved this world since you opened it. Your edits are not lost, and theirs were not overwritten.</p>
          <button type="button" onClick={() => void mineAsCopy()}>Keep mine as a copy</button> <button type="button" onClick={reopen}>Use theirs</button>
        </div>
      )}
      {again && view.current.again && drawing.dirty && !older && (
        <p class="notice-line" role="status">Your unsaved edits of {new Date(again.time).toLocaleString()} were restored. <button type="button" class="link" onClick={reopen}>Discard them</button></p>
      )}
      <div class="columns editor">
        <div><WorldBoard drawing={drawing} sent={sent} things={parts.things} chosen={there} view={board} changed={changed} choose={setChosen} /></div>
        <div class="editor-side">
          <SelectionFields key={there ? `${there.kind}.${there.number}` : ""} drawing={drawing} chosen={there} changed={changed} choose={setChosen} />
          <Parts drawing={drawing} chosen={there} choose={setChosen} />
        </div>
        <div class="editor-below">
          <section class="card" aria-labelledby="next">
            <h2 id="next">Use it</h2>
            <div class="bar-part"><button type="button" class="first" onClick={() => void scenario()}>Draw a scenario in it</button>{sent.shapes && <span class="faint">Its walls are exact shapes; the first wall that you draw converts them to cells.</span>}</div>
          </section>
          {saved && <After saved={saved} />}
        </div>
      </div>
    </>
  );
}

/** A copy of a world under a name like this one that is free. */
async function made(stem: string, of: string): Promise<string> {
  const names = new Set((await get<WorldEntry[]>("/api/worlds")).map((one) => one.name));
  for (let k = 1; ; k++) {
    const name = k === 1 ? stem : `${stem}-${k}`;
    if (!names.has(name)) return (await post<World>("/api/worlds/copy", { name, of })).name;
  }
}

/** The checks of the server after saving: of the world, and of the scenarios that use it. */
function After({ saved: { problems, notes, scenarios } }: { saved: KeptDrawing }) {
  const wrong = scenarios.filter((one) => one.problems.length);
  return (
    <section class={problems.length || wrong.length ? "card problems" : "card"} aria-labelledby="after" aria-live="polite">
      <h2 id="after">{problems.length || wrong.length ? "Problems in the saved world" : "Checked"}</h2>
      <ul class="plain">{problems.map((line) => <li key={line} class="bad">{line}</li>)}{notes.map((line) => <li key={line} class="faint">{line}</li>)}</ul>
      {wrong.map((one) => <div key={one.name}><h3><a href={`/scenarios/${encodeURIComponent(one.name)}`}>{one.name}</a></h3><ul>{one.problems.map(({ text }, k) => <li key={k}>{text}</li>)}</ul></div>)}
      {scenarios.length > 0 && !wrong.length && <p class="good">{scenarios.length === 1 ? "The scenario" : `The ${scenarios.length} scenarios`} in this world can still be run.</p>}
    </section>
  );
}
