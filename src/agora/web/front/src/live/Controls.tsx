// Pause, step, speed, again, next; and what is drawn.
import type { Live } from "../api";
import type { Shown } from "./Canvas";
import type { Wish } from "./stream";

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const DRAWN: [keyof Shown, string][] = [["follow", "follow the robot"], ["scan", "lidar"], ["planned", "planned path"], ["trails", "trails"], ["ids", "numbers"]];

type Props = { live: Live | null; mine: boolean; over: boolean; shown: Shown; toggle(name: keyof Shown): void; wish(wish: Wish): void };

export function Controls({ live, mine, over, shown, toggle, wish }: Props) {
  const paused = live?.state === "paused", off = !mine || live === null || live.state === "starting" || live.state === "failed";
  return (
    <div class="bar">
      <span class="bar-part">
        <button type="button" class="first wide" disabled={off || over} title="space" onClick={() => wish({ do: paused ? "go" : "pause" })}>{paused ? "▶ Go on" : "❚❚ Pause"}</button>
        <button type="button" disabled={off || over} title="one control period (.)" onClick={() => wish({ do: "step" })}>Step</button>
        <button type="button" disabled={off} title="the same episode from its start (r)" onClick={() => wish({ do: "again" })}>Again</button>
        <button type="button" disabled={off} title="the next episode (n)" onClick={() => wish({ do: "next" })}>Next</button>
        <label>Speed <select value={String(live?.speed ?? 1)} disabled={off} onChange={(event) => wish({ do: "speed", value: Number(event.currentTarget.value) })}>
          {SPEEDS.map((speed) => <option key={speed} value={String(speed)}>{speed}×</option>)}
        </select></label>
      </span>
      <span class="bar-part">
        {DRAWN.map(([name, words]) => <label key={name}><input type="checkbox" checked={shown[name]} onChange={() => toggle(name)} /> {words}</label>)}
      </span>
    </div>
  );
}
