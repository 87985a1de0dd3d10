// One live world: its picture, its notices, and its line of numbers.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useMe } from "../account/me";
import { useGet } from "../api";
import { Canvas, type Shown, type View } from "./Canvas";
import { useDriving } from "./drive";
import { Pad } from "./Pad";
import { readout } from "./readout";
import type { Stream, Wish } from "./stream";
import type { Suite } from "../schemas";

const OWN = "own/"; // suites whose names begin with this were created here

type Props = { stream: Stream; at: number; many: number; shown: Shown; view(view: View | null): void; onMove(): void };

export function World({ stream, at, many, shown, view, onMove }: Props) {
  const { scene, live, ending, trouble } = stream;
  const own = useRef<View | null>(null), words = useRef<HTMLParagraphElement>(null);
  const set = useMemo(() => (found: View | null) => { own.current = found; view(found); }, [stream]);
  const { owns } = useMe(), count = (useGet<Suite[]>("/api/suites", true).data ?? []).find(({ name }) => name === live?.form.suite)?.stages.find(({ name }, k) => (live?.form.stage ? name === live.form.stage : k === 0))?.count;
  const moves = live !== null && owns(live.owner);
  const wish = (one: Wish) => { if (moves) stream.wish(one); };
  const drives = scene?.drive ?? false;
  useEffect(() => {
    const leave = () => { if (document.hidden) wish({ do: "hold" }); };
    if (drives && moves) document.addEventListener("visibilitychange", leave);
    return () => document.removeEventListener("visibilitychange", leave);
  }, [drives, moves]);
  const finger = useDriving(drives, (twist) => wish({ do: "drive", twist }));
  const tell = useMemo(() => readout(stream, words), [stream]);
  return (
    <>
      {live?.form.suite.startsWith(OWN) && many === 1 && <Back suite={live.form.suite} />}
      <div class="live-stage" tabIndex={0} role="group" data-world={at} aria-label={many > 1 ? `Map of world ${at + 1}` : "Map; plus and minus zoom, 0 shows everything"}>
        {scene
          ? <Canvas stream={stream} scene={scene} shown={shown} view={set} tall={many > 2 ? 0.4 : 0.72} onFrame={tell} onMove={onMove} />
          : <div class="live-empty" />}
        <div class="live-zoom">
          <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => own.current?.zoom(1.25)}>+</button>
          <button type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => own.current?.zoom(0.8)}>−</button>
          <button type="button" title="Show everything (0)" aria-label="Show everything" onClick={() => own.current?.fit()}>⤢</button>
        </div>
        {drives && <Pad ask={finger} />}
        <div class="live-words" role="status"><Notice stream={stream} alone={many === 1} only={count === 1} moves={moves} wish={wish} /></div>
      </div>
      <p class="readout" ref={words} aria-live="off">{trouble || ending ? "" : " "}</p>
      {live && !moves && <p class="faint">{live.owner ? `${live.owner} controls this episode` : "An administrator controls this episode"}; you watch.</p>}
      {drives && <p class="drive-help"><b>You drive.</b> <kbd>↑</kbd> <kbd>↓</kbd> forwards and backwards, <kbd>←</kbd> <kbd>→</kbd> turn
        (also <kbd>W</kbd> <kbd>A</kbd> <kbd>S</kbd> <kbd>D</kbd>), <kbd>Q</kbd> <kbd>E</kbd> sideways if the robot can; hold <kbd>shift</kbd> for full speed. A gamepad and the stick in the picture work too.
        Drive the robot into the dashed green circle.</p>}
    </>
  );
}

/** The way back to where an own scenario or suite is edited. */
function Back({ suite }: { suite: string }) {
  const kind = (useGet<Suite[]>("/api/suites", true).data ?? []).find(({ name }) => name === suite)?.kind, name = suite.slice(OWN.length);
  if (!kind) return null;
  return <p class="back">{kind === "suite" ? <a href={`/suites/${name}`}>Back to the suite {name}</a> : <a href={`/scenarios/${name}`}>Back to the drawing of {name}</a>}</p>;
}

/** The notice of a world: its start, an error, or its end. */
function Notice({ stream: { live, scene, ending, trouble, over, recent }, alone, only, moves, wish }: { stream: Stream; alone: boolean; only: boolean; moves: boolean; wish(wish: Wish): void }) {
  if (over) return <p class="notice bad">{trouble} <a href="/">Start another episode</a></p>;
  if (trouble) return <p class="notice bad">{trouble}</p>;
  if (live?.state === "failed") return <p class="notice bad">It cannot continue: {live.message}</p>;
  if (live?.message) return <p class="notice"><i class="spinner" aria-hidden="true" />{live.message}</p>;
  if (!scene) return <p class="notice"><i class="spinner" aria-hidden="true" />Starting …</p>;
  if (ending) {
    return (
      <div class="notice">
        <p><b class={ending.outcome === "reached" ? "good" : "bad"}>{ending.outcome.replaceAll("_", " ")}</b>{ending.why && `: ${ending.why}`}</p>
        {alone && <><button type="button" class={only ? "first" : ""} onClick={() => wish({ do: "again" })}>Again</button>{!only && <> <button type="button" class="first" onClick={() => wish({ do: "next" })}>Next episode</button></>}</>}
      </div>
    );
  }
  if (scene.drive && live?.held && moves) return <p class="notice"><b>Press an arrow key to {recent.newest > 0 ? "continue" : "start"}.</b> The clock is stopped until then.</p>;
  return null;
}
