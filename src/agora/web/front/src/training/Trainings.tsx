// All trainings that were asked for, and the form for another.
import { useState } from "preact/hooks";
import { remove, wordsOf, type Run } from "../api";
import { news, useNews } from "../news";
import { RunState } from "../run/RunState";
import { NewTraining } from "./NewTraining";

export function Trainings({ asked }: { asked: URLSearchParams }) {
  const runs = useNews().runs?.filter(({ kind }) => kind === "training");
  const [error, setError] = useState("");
  const drop = async (run: Run) => {
    if (!confirm(`Remove “${run.title}” with its checkpoints, its curves and its policy?`)) return;
    try { await remove(`/api/runs/${run.id}`); setError(""); } catch (problem) { setError(wordsOf(problem)); }
    await news.refresh();
  };
  return (
    <>
      <h1>Train a policy</h1>
      <div class="columns">
        <NewTraining key={asked.toString()} asked={asked} />
        <aside class="card queue" aria-labelledby="trainings">
          <h2 id="trainings">Trainings</h2>
          {runs && !runs.length && <p class="faint">No training runs yet. Start one to follow its curve during training. You can stop it at any time and continue it later.</p>}
          {error && <p class="bad" role="alert">{error}</p>}
          {(runs ?? []).map((run) => (
            <article key={run.id}>
              {run.state !== "running" && <button type="button" class="close" aria-label={`Remove ${run.title}`} onClick={() => drop(run)}>×</button>}
              <h3><a href={`/training/${run.id}`}>{run.title}</a></h3>
              <p class="faint"><time dateTime={run.created}>{new Date(run.created).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}</time></p>
              <RunState run={run} />
            </article>
          ))}
        </aside>
      </div>
    </>
  );
}
