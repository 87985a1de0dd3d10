// The administrators' page: users, invitations, and the state of the server.
import { useEffect, useState } from "preact/hooks";
import { get, wordsOf } from "../api";
import { RunState } from "../run/RunState";
import { Invitations } from "./Invitations";
import { RoleNotice } from "./RoleNotice";
import { People } from "./People";
import { useMe } from "./me";
import type { ServerState } from "../schemas";

const LOOKS = 3000; // ms

export function Server() {
  const { me, may } = useMe();
  if (!me || !may("administer")) return <><h1>Server</h1><RoleNotice role="administer" /></>;
  return (
    <>
      <h1>Server</h1>
      {me.accounts ? <><People /><Invitations /></> : <p>This server has no accounts. <code>agora web --host</code> and <code>--accounts</code> turn them on.</p>}
      <Standing />
    </>
  );
}

function Standing() {
  const [state, setState] = useState<ServerState | null>(null), [error, setError] = useState("");
  useEffect(() => {
    const load = () => get<ServerState>("/api/server").then((found) => { setState(found); setError(""); }, (problem: unknown) => setError(wordsOf(problem)));
    void load();
    const timer = setInterval(load, LOOKS);
    return () => clearInterval(timer);
  }, []);
  if (!state) return <p class={error ? "bad" : "faint"}>{error || "Loading …"}</p>;
  const { runs, lives, workers, disk } = state, full = 1 - disk.free / disk.total;
  return (
    <div class="pair account">
      <section class="card queue" aria-labelledby="runs">
        <h2 id="runs">Queue</h2>
        {!runs.length && <p class="faint">No run is running or waiting.</p>}
        {[...runs].reverse().map((run) => <article key={run.id}><h3><a href={`/results/${run.id}`}>{run.title}</a> <small>{run.owner || "nobody's"}</small></h3><RunState run={run} /></article>)}
      </section>
      <section class="card" aria-labelledby="lives">
        <h2 id="lives">Live episodes</h2>
        {!lives.length && <p class="faint">No live episode is being watched.</p>}
        <ul class="plain">{lives.map(({ id, title, owner, watchers }) => <li key={id}><a href={`/live/${id}`}>{title}</a> <small>{owner || "nobody's"}, {watchers} {watchers === 1 ? "watcher" : "watchers"}</small></li>)}</ul>
      </section>
      <section class="card" aria-labelledby="machine">
        <h2 id="machine">Workers and disk</h2>
        {workers.map(({ name, run, heard }) => <p key={name}><code>{name}</code> {run ? <>is running <a href={`/results/${run}`}>{run}</a></> : "is waiting for a run"}<small>{heard && `, last seen at ${new Date(heard).toLocaleTimeString()}`}</small></p>)}
        {!workers.length && <p class="bad">No worker is alive, so no run makes progress. Start one with <code>agora server worker</code>.</p>}
        <p><progress value={full} max={1} aria-label="Disk" /> {gigabytes(disk.free)} of {gigabytes(disk.total)} GB are free</p>
        {full > 0.95 && <p class="bad">The disk is nearly full and runs will fail. Remove results.</p>}
      </section>
      {error && <p class="bad" role="alert">{error}</p>}
    </div>
  );
}

const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(1);
