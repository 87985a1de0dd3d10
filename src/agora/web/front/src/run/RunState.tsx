// How a run stands, and what can be done about it.
import { useState } from "preact/hooks";
import { post, wordsOf, type Run } from "../api";
import { news } from "../news";

export function RunState({ run }: { run: Run }) {
  const [error, setError] = useState("");
  const ask = (what: string) => post<Run>(`/api/runs/${run.id}/${what}`).then((changed) => { setError(""); news.put(changed); }, (problem: unknown) => setError(wordsOf(problem)));
  const open = run.state === "running" || run.state === "queued", stopped = run.state === "cancelled" || run.state === "failed";
  return (
    <div class="state">
      {open && <progress value={run.done} max={run.total || 1} aria-label={`Progress of ${run.title}`} />}
      <span><i class={`dot ${run.state}`} />{words(run)}</span>
      {open && <button type="button" onClick={() => ask("cancel")}>Cancel</button>}
      {stopped && <button type="button" onClick={() => ask("resume")}>Go on</button>}
      {run.message && <p class={run.state === "failed" ? "bad" : "faint"}>{run.message}</p>}
      {error && <p class="bad" role="alert">{error}</p>}
    </div>
  );
}

function words({ state, done, total }: Run): string {
  if (state === "queued") return done ? `waits, ${done} of ${total} episodes are done` : "waits for its turn";
  if (state === "running") return total ? `${done} of ${total} episodes` : "begins …";
  if (state === "finished") return `finished, ${total || done} episodes`;
  return total ? `${state} after ${done} of ${total} episodes` : state;
}
