// The suite to run, and which of its stages.
import { useState } from "preact/hooks";
import type { Stage, Suite } from "../schemas";

type Props = { suites: Suite[]; name: string; stages: string[]; put(name: string, stages: string[]): void };

export function SuitePicker({ suites, name, stages, put }: Props) {
  const [find, setFind] = useState("");
  const wanted = find.trim().toLowerCase(), has = (...texts: string[]) => texts.join(" ").toLowerCase().includes(wanted);
  const hits = suites.map((one) => ({ one, stages: wanted ? one.stages.filter((stage) => has(stage.name, stage.about ?? "")) : [] }));
  const begins = ({ one, stages: some }: Hit) => [one.name, ...some.map((stage) => stage.name)].some((text) => text.toLowerCase().split(/[^a-z0-9]+/).some((word) => word.startsWith(wanted)));
  const found = hits.filter(({ one, stages: some }) => some.length || has(one.name, one.description)).sort((a, b) => Number(begins(b)) - Number(begins(a))), shown = suites.filter((one) => one.name === name || found.some((hit) => hit.one === one));
  const suite = suites.find((one) => one.name === name);
  const is = (stage: string) => !stages.length || stages.includes(stage);
  const toggle = (stage: string) => {
    const all = (suite?.stages ?? []).map((one) => one.name), next = all.filter((one) => (one === stage ? !is(one) : is(one)));
    put(name, next.length === all.length ? [] : next);
  };
  return (
    <fieldset>
      <legend>1. Suite</legend>
      <p class="faint">A suite is a list of episodes with the same worlds, people and goals for every planner.</p>
      <div class="pair">
        <label>Find a suite <input type="search" value={find} placeholder="name or words" onInput={(event) => setFind(event.currentTarget.value)} /></label>
        <label>Suite <select value={name} onChange={(event) => put(event.currentTarget.value, [])}>
          {shown.map((one) => <option key={one.name} value={one.name} disabled={one.missing !== ""}>{one.name}</option>)}
        </select></label>
      </div>
      {wanted && !suites.length && <p class="faint" role="status">Reading the suites …</p>}
      {wanted && suites.length > 0 && <Found find={find.trim()} hits={found} put={put} />}
      {suite && <p>{suite.missing || suite.description}</p>}
      {suite && suite.stages.length > 1 && (
        <div class="stages" role="group" aria-label="Stages">
          {suite.stages.map((stage) => {
            const last = is(stage.name) && (stages.length === 1 || suite.stages.length === 1);
            return <label key={stage.name}><input type="checkbox" checked={is(stage.name)} disabled={last} onChange={() => toggle(stage.name)} /> <span title={stage.about}>{stage.name}</span> <small>{stage.count} {stage.count === 1 ? "episode" : "episodes"}</small></label>;
          })}
        </div>
      )}
    </fieldset>
  );
}

type Hit = { one: Suite; stages: Stage[] };

/** The suites that a search has found, and in each the stages in which the words stand. */
function Found({ find, hits, put }: { find: string; hits: Hit[]; put(name: string, stages: string[]): void }) {
  if (!hits.length) return <p class="faint" role="status">No suite has “{find}” in its name, its text or its stages.</p>;
  return (
    <ul class="plain found" tabIndex={0} aria-label={`Suites with ${find}`}>
      {hits.map(({ one, stages }) => (
        <li key={one.name}>
          <button type="button" class="link" disabled={one.missing !== ""} onClick={() => put(one.name, [])}>{one.name}</button>
          {!stages.length && <small> {one.missing || one.description}</small>}
          {stages.map((stage) => (
            <span key={stage.name}> · stage <button type="button" class="link" disabled={one.missing !== ""} aria-label={`${one.name}, stage ${stage.name}`} title={stage.about} onClick={() => put(one.name, one.stages.length > 1 ? [stage.name] : [])}>{stage.name}</button> <small>{stage.count} {stage.count === 1 ? "episode" : "episodes"}</small></span>
          ))}
        </li>
      ))}
    </ul>
  );
}
