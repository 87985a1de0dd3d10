// The state of a run, and the possible actions.
import { useState } from "preact/hooks";
import { post, wordsOf, type Run } from "../api";
import { useMe } from "../account/me";
import { news } from "../news";

export function RunState({ run }: { run: Run }) {
  const [error, setError] = useState(""), mine = useMe().owns(run.owner);
  const ask = (what: string, body = {}) => post<Run>(`/api/runs/${run.id}/${what}`, body).then((changed) => { setError(""); news.put(changed); }, (problem: unknown) => setError(wordsOf(problem)));
  const open = run.state === "running" || run.state === "queued", stopped = run.state === "cancelled" || run.state === "failed";
  return (
    <div class="state">
      {open && <progress value={run.done} max={run.total || 1} aria-label={`Progress of ${run.title}`} />}
      <span><i class={`dot ${run.state}`} />{words(run)}</span>
      {open && mine && <button type="button" disabled={run.stop} onClick={() => ask("cancel")}>{run.kind === "training" ? "Stop" : "Cancel"}</button>}
      {stopped && mine && run.kind === "bench" && <button type="button" onClick={() => ask("resume")}>Continue</button>}
      {stopped && mine && run.kind === "training" && <GoOn run={run} ask={ask} />}
      {run.message && <p class={run.state === "failed" ? "bad" : "faint"}>{run.message}</p>}
      {error && <p class="bad" role="alert">{error}</p>}
    </div>
  );
}

/** A training goes on for some minutes, or to its end. */
function GoOn({ run, ask }: { run: Run; ask(what: string, body: object): void }) {
  const [minutes, setMinutes] = useState("");
  return (
    <>
      <button type="button" onClick={() => ask("resume", { minutes: minutes ? Number(minutes) : null })}>Continue</button>
      <label>for <input class="few-digits" type="number" min={0} step="any" value={minutes} placeholder="all" aria-label={`Minutes to continue ${run.title}`} onInput={(event) => setMinutes(event.currentTarget.value)} /> min</label>
    </>
  );
}

/** The address of the page of a run. */
export const pageOf = ({ kind, id }: Run) => `/${kind === "training" ? "training" : "results"}/${id}`;

function words(run: Run): string {
  const { state, done, total, stop } = run;
  if (stop && state === "running") return run.kind === "training" ? "stopping after this round …" : "stopping …";
  if (run.kind === "training") return learned(run);
  if (state === "queued") return `${done ? `waiting, ${done} of ${episodes(total)} done` : "waiting in the queue"}${after(run)}`;
  if (state === "running") return total ? `${done} of ${episodes(total)}` : "starting …";
  if (state === "finished") return `finished, ${episodes(total || done)}`;
  return total ? `${state} after ${done} of ${episodes(total)}` : state;
}

const episodes = (count: number) => `${count} ${count === 1 ? "episode" : "episodes"}`;

function learned(run: Run): string {
  const { state, done, total } = run;
  const share = total ? `${Math.floor((100 * done) / total)} %` : "";
  if (state === "queued") return `${share ? `waiting, ${share} done` : "waiting in the queue"}${after(run)}`;
  if (state === "running") return share || "starting …";
  if (state === "finished") return "finished";
  return `${state === "cancelled" ? "stopped" : "failed"}${share && ` at ${share}`}`;
}

/** Which run the worker is busy with meanwhile. */
function after({ id }: Run): string {
  const other = news.runs?.find((one) => one.state === "running" && one.id !== id);
  return other ? `, after “${other.title}”` : "";
}
