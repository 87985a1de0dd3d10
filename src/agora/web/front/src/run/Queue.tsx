// The runs that run or wait, and the newest of the others.
import { useNews } from "../news";
import { pageOf, RunState } from "./RunState";

const SOME = 5; // finished runs that are shown here

export function Queue() {
  const runs = useNews().runs;
  const open = (runs ?? []).filter(({ state }) => state === "running" || state === "queued");
  const over = (runs ?? []).filter((run) => !open.includes(run)).slice(0, SOME);
  return (
    <aside class="card queue" aria-labelledby="queue">
      <h2 id="queue">Queue</h2>
      {runs && !open.length && <p class="faint">No run is active. Start a run to see its progress here.</p>}
      {[...open].reverse().map((run) => <article key={run.id}><h3><a href={pageOf(run)}>{run.title}</a></h3><RunState run={run} /></article>)}
      {over.length > 0 && <><h3>Before</h3>{over.map((run) => <article key={run.id}><a href={pageOf(run)}>{run.title}</a><RunState run={run} /></article>)}</>}
      {over.length > 0 && <p><a href="/results">All runs</a></p>}
    </aside>
  );
}
