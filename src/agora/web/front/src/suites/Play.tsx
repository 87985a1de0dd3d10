// The uses of a suite: watching it, and running planners on it.
import { useState } from "preact/hooks";
import { useGet, wordsOf } from "../api";
import { begin } from "../live/start";
import { go } from "../router";
import type { Planner } from "../schemas";

type Props = { name: string; stage: string; episode: number; ready: boolean; save(): Promise<boolean> };

export function Play({ name, stage, episode, ready, save }: Props) {
  const planners = useGet<Planner[]>("/api/planners", true).data ?? [];
  const [planner, setPlanner] = useState("orca"), [error, setError] = useState(""), [busy, setBusy] = useState(false);
  const suite = `own/${name}`;
  const watch = async (drive: boolean) => {
    setBusy(true);
    setError("");
    try {
      if (await save()) await begin({ suite, stage, episode, planner, seed: null, drive });
    } catch (problem) { setError(wordsOf(problem)); }
    setBusy(false);
  };
  const run = async () => { if (await save()) go(`/run?suite=${encodeURIComponent(suite)}&planner=orca&planner=dwa`); };
  return (
    <section class="card play" aria-labelledby="play">
      <h2 id="play">Play it</h2>
      <p><button type="button" class="first" disabled={busy || !ready} onClick={() => void run()}>Run planners on it</button></p>
      <div class="bar-part">
        <label>Planner <select value={planner} onChange={(event) => setPlanner(event.currentTarget.value)}>
          {planners.filter(({ missing }) => !missing).map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}
        </select></label>
        <button type="button" disabled={busy || !ready} onClick={() => void watch(false)}>Watch this episode</button>
        <button type="button" disabled={busy || !ready} onClick={() => void watch(true)}>Drive in it</button>
      </div>
      <p class="faint">Each of these buttons saves the suite first.</p>
      {error && <p class="bad" role="alert">{error}</p>}
    </section>
  );
}
