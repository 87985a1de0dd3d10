// Pause, step, speed, again, next, and the drawn layers. They act on all given worlds.
import type { Shown } from "./Canvas";
import type { Stream, Wish } from "./stream";

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const DRAWN: [keyof Shown, string][] = [["follow", "follow the robot"], ["scan", "lidar"], ["planned", "planned path"], ["trails", "trails"], ["ids", "numbers"]];

/** The common state of worlds: `off` if none accepts commands, `over` if all have ended, `paused` if none of the running ones moves. */
export function standing(streams: Stream[]) {
  const ready = streams.filter(({ live }) => live !== null && live.state !== "starting" && live.state !== "failed"), going = ready.filter(({ ending }) => ending === null);
  const speeds = [...new Set(ready.map(({ live }) => live?.speed ?? 1))];
  return { off: !ready.length, over: !going.length, paused: going.length > 0 && going.every(({ live }) => live?.state === "paused"), speed: speeds.length > 1 ? null : speeds[0] ?? 1 };
}

type Props = { streams: Stream[]; shown: Shown; toggle(name: keyof Shown): void; wish(wish: Wish): void };

export function Controls({ streams, shown, toggle, wish }: Props) {
  const { off, over, paused, speed } = standing(streams);
  return (
    <div class="bar">
      <span class="bar-part">
        <button type="button" class="first wide" disabled={off || over} title="space" onClick={() => wish({ do: paused ? "go" : "pause" })}>{paused ? "▶ Continue" : "❚❚ Pause"}</button>
        <button type="button" disabled={off || over} title="one control period (.)" onClick={() => wish({ do: "step" })}>Step</button>
        <button type="button" disabled={off} title="the same episode from its start (r)" onClick={() => wish({ do: "again" })}>Again</button>
        <button type="button" disabled={off} title="the next episode (n)" onClick={() => wish({ do: "next" })}>Next</button>
        <label>Speed <select value={speed === null ? "" : String(speed)} disabled={off} onChange={(event) => wish({ do: "speed", value: Number(event.currentTarget.value) })}>
          {speed === null && <option value="">differs</option>}
          {SPEEDS.map((one) => <option key={one} value={String(one)}>{one}×</option>)}
        </select></label>
      </span>
      <span class="bar-part">
        {DRAWN.map(([name, words]) => <label key={name}><input type="checkbox" checked={shown[name]} onChange={() => toggle(name)} /> {words}</label>)}
      </span>
    </div>
  );
}
