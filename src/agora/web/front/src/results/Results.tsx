// All runs. Two that are ticked can be compared.
import { useState } from "preact/hooks";
import { remove, wordsOf, type Run } from "../api";
import { news, useNews } from "../news";
import { useMe } from "../account/me";
import { RunState } from "../run/RunState";

export function Results() {
  const runs = useNews().runs?.filter(({ kind }) => kind === "bench"), { me, owns } = useMe();
  const [ticked, setTicked] = useState<string[]>([]);
  const [error, setError] = useState("");
  if (runs && !runs.length) return <NoRuns />;
  const toggle = (id: string) => setTicked((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id]));
  const drop = async (run: Run) => {
    if (!confirm(`Remove “${run.title}” and all its results?`)) return;
    try { await remove(`/api/runs/${run.id}`); setTicked((before) => before.filter((one) => one !== run.id)); } catch (problem) { setError(wordsOf(problem)); }
    await news.refresh();
  };
  return (
    <>
      <h1>Results</h1>
      <p class="bar">
        {ticked.length >= 2 ? <a class="button first" href={`/compare?run=${ticked.join(",")}`}>Compare the {ticked.length} selected runs</a> : <span class="faint">Select two or more runs to compare them.</span>}
        <a class="button" href="/run">New run</a>
      </p>
      {error && <p class="bad" role="alert">{error}</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="Runs">
        <table class="runs">
          <thead><tr><th><span class="hidden">Compare</span></th><th>Run</th><th>State</th><th>Requested</th><th><span class="hidden">Remove</span></th></tr></thead>
          <tbody>
            {(runs ?? []).map((run) => (
              <tr key={run.id}>
                <td><input type="checkbox" aria-label={`Compare ${run.title}`} checked={ticked.includes(run.id)} disabled={!run.done} onChange={() => toggle(run.id)} /></td>
                <td class="title"><a href={`/results/${run.id}`}>{run.title}</a>{me?.accounts && <small> {run.owner || "nobody's"}</small>}</td>
                <td><RunState run={run} /></td>
                <td><time dateTime={run.created}>{new Date(run.created).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}</time></td>
                <td>{run.state !== "running" && owns(run.owner) && <button type="button" aria-label={`Remove ${run.title}`} onClick={() => drop(run)}>Remove</button>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function NoRuns() {
  return (
    <>
      <h1>Results</h1>
      <p>There are no runs yet. A run plays the same episodes with several planners and reports which planners reached the goal, how fast, and how close they came to people.</p>
      <p class="files">
        <a class="button first" href="/run?suite=demo&planner=orca&planner=social_force">Compare two planners now</a>
        <a class="button" href="/leaderboard">See the leaderboard</a>
      </p>
    </>
  );
}
