// A live episode with its controls.
import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { useMe } from "../account/me";
import { Tour } from "../Tour";
import { Canvas, type Shown, type View } from "./Canvas";
import { Controls, SPEEDS } from "./Controls";
import { Legend } from "./Legend";
import { Others } from "./Others";
import { Pad } from "./Pad";
import { Picker } from "./Picker";
import { types, useDriving } from "./drive";
import { readout } from "./readout";
import { Stream, type Wish } from "./stream";

const SHOWN: Shown = { follow: false, scan: false, trails: true, planned: true, ids: false };
const OWN = "own/"; // suites whose names begin with this are scenarios drawn here
const STRIDE = 60; // an arrow key moves the picture by so many pixels

/** `ids`: of one live episode, or of two that are shown side by side. */
export function LivePage({ ids }: { ids: string[] }) {
  const [, changed] = useReducer((count: number) => count + 1, 0);
  const [streams, setStreams] = useState<Stream[]>([]);
  useEffect(() => {
    const own = ids.map((id) => new Stream(id, () => changed(undefined)));
    setStreams(own);
    return () => { for (const stream of own) stream.close(); };
  }, []);
  const two = ids.length > 1;
  return (
    <div class={two ? "live two" : "live"}>
      {streams.map((stream, k) => <section key={ids[k]} class="live-world" aria-label={two ? `Live episode ${k + 1}` : "Live episode"}><World stream={stream} /></section>)}
      <aside class="live-side">
        <Tour />
        <Picker live={streams[0]?.live ?? null} />
        <Others ids={ids} />
      </aside>
    </div>
  );
}

function World({ stream }: { stream: Stream }) {
  const { scene, live, ending, trouble } = stream;
  const [shown, setShown] = useState(SHOWN);
  const view = useRef<View>(null), words = useRef<HTMLParagraphElement>(null);
  const { owns } = useMe(), moves = live !== null && owns(live.owner);
  const wish = (one: Wish) => { if (moves) stream.wish(one); };
  const drives = scene?.drive ?? false;
  const finger = useDriving(drives, (twist) => wish({ do: "drive", twist }));
  const tell = useMemo(() => readout(stream, words), [stream]);
  const toggle = (name: keyof Shown) => setShown((before) => ({ ...before, [name]: !before[name] }));
  const speed = live?.speed ?? 1, own = live?.form.suite.startsWith(OWN) ? live.form.suite.slice(OWN.length) : "";

  useEffect(() => {
    const pace = (by: number) => wish({ do: "speed", value: SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(speed) + by))] });
    const keys: Record<string, () => void> = {
      ...(ending ? {} : { " ": () => wish({ do: live?.state === "paused" ? "go" : "pause" }), ".": () => wish({ do: "step" }) }),
      r: () => wish({ do: "again" }), n: () => wish({ do: "next" }), "<": () => pace(-1), ">": () => pace(1), f: () => toggle("follow"), l: () => toggle("scan"),
      "+": () => view.current?.zoom(1.25), "=": () => view.current?.zoom(1.25), "-": () => view.current?.zoom(0.8), 0: () => view.current?.fit(),
      ...(drives ? {} : {
        ArrowLeft: () => view.current?.pan(STRIDE, 0), ArrowRight: () => view.current?.pan(-STRIDE, 0),
        ArrowUp: () => view.current?.pan(0, STRIDE), ArrowDown: () => view.current?.pan(0, -STRIDE),
      }),
    };
    const press = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null, focused = target?.closest(".live-stage");
      const used = types(target) || (event.key === " " && target?.closest("button, a, summary, input"));
      const scrolls = event.key.startsWith("Arrow") && !focused;
      if (event.ctrlKey || event.metaKey || event.altKey || used || scrolls || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [stream, drives, live?.state, ending, speed]);

  return (
    <>
      <h1>{scene?.title ?? live?.title ?? "Live"}</h1>
      {own && <p class="back"><a href={`/scenarios/${own}`}>Back to the drawing of {own}</a></p>}
      <div class="live-stage" tabIndex={0} role="group" aria-label="Map; plus and minus zoom, 0 shows everything">
        {scene
          ? <Canvas stream={stream} scene={scene} shown={shown} view={view} onFrame={tell} onMove={() => setShown((before) => (before.follow ? { ...before, follow: false } : before))} />
          : <div class="live-empty" />}
        <div class="live-zoom">
          <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => view.current?.zoom(1.25)}>+</button>
          <button type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => view.current?.zoom(0.8)}>−</button>
          <button type="button" title="Show everything (0)" aria-label="Show everything" onClick={() => view.current?.fit()}>⤢</button>
        </div>
        {drives && <Pad ask={finger} />}
        <div class="live-words" role="status"><Notice stream={stream} wish={wish} /></div>
      </div>
      <p class="readout" ref={words} aria-live="off">{trouble || ending ? "" : " "}</p>
      {live && !moves && <p class="faint">{live.owner ? `${live.owner} moves this episode` : "An administrator moves this episode"}; you watch.</p>}
      <Controls live={live} mine={moves} over={ending !== null} shown={shown} toggle={toggle} wish={wish} />
      {drives && <p class="drive-help"><b>You drive.</b> <kbd>↑</kbd> <kbd>↓</kbd> ahead and back, <kbd>←</kbd> <kbd>→</kbd> turn
        (also <kbd>W</kbd> <kbd>A</kbd> <kbd>S</kbd> <kbd>D</kbd>), <kbd>Q</kbd> <kbd>E</kbd> sideways where the robot can; hold <kbd>shift</kbd> for full speed. A gamepad and the stick in the picture work too.
        Bring the robot into the dashed green circle.</p>}
      {scene && <Legend stream={stream} scene={scene} />}
      <details class="keys">
        <summary>Keys</summary>
        <p><kbd>space</kbd> pause or go on, <kbd>.</kbd> one step, <kbd>r</kbd> again, <kbd>n</kbd> next, <kbd>&lt;</kbd> <kbd>&gt;</kbd> speed, <kbd>f</kbd> follow the robot,
          <kbd>l</kbd> lidar, <kbd>+</kbd> <kbd>−</kbd> <kbd>0</kbd> zoom; {drives ? "" : "arrows or "}dragging moves the picture, the wheel zooms once it was clicked.</p>
      </details>
    </>
  );
}

/** What a watcher must know now: that it starts, what went wrong, how it ended. */
function Notice({ stream: { live, scene, ending, trouble, over }, wish }: { stream: Stream; wish(wish: Wish): void }) {
  if (over) return <p class="notice bad">{trouble} <a href="/">Begin another one</a></p>;
  if (trouble) return <p class="notice bad">{trouble}</p>;
  if (live?.state === "failed") return <p class="notice bad">It cannot go on: {live.message}</p>;
  if (live?.message) return <p class="notice"><i class="spinner" aria-hidden="true" />{live.message}</p>;
  if (!scene) return <p class="notice"><i class="spinner" aria-hidden="true" />Starting …</p>;
  if (ending) {
    return (
      <div class="notice">
        <p><b class={ending.outcome === "reached" ? "good" : "bad"}>{ending.outcome.replaceAll("_", " ")}</b>{ending.why && `: ${ending.why}`}</p>
        <button type="button" onClick={() => wish({ do: "again" })}>Again</button> <button type="button" class="first" onClick={() => wish({ do: "next" })}>Next episode</button>
      </div>
    );
  }
  return null;
}
