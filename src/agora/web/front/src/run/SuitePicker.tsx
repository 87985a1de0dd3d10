// The suite to run, and which of its stages.
import { useState } from "preact/hooks";
import type { Suite } from "../api";

type Props = { suites: Suite[]; name: string; stages: string[]; put(name: string, stages: string[]): void };

export function SuitePicker({ suites, name, stages, put }: Props) {
  const [find, setFind] = useState("");
  const wanted = find.trim().toLowerCase();
  const shown = suites.filter((one) => one.name === name || `${one.name} ${one.description}`.toLowerCase().includes(wanted));
  const suite = suites.find((one) => one.name === name);
  const is = (stage: string) => !stages.length || stages.includes(stage);
  const toggle = (stage: string) => {
    const all = (suite?.stages ?? []).map((one) => one.name), next = all.filter((one) => (one === stage ? !is(one) : is(one)));
    put(name, next.length === all.length ? [] : next);
  };
  return (
    <fieldset>
      <legend>1. Suite</legend>
      <p class="faint">A suite is a list of episodes: the same places, people and goals for every planner.</p>
      <div class="pair">
        <label>Find a suite <input type="search" value={find} placeholder="name or words" onInput={(event) => setFind(event.currentTarget.value)} /></label>
        <label>Suite <select value={name} onChange={(event) => put(event.currentTarget.value, [])}>
          {shown.map((one) => <option key={one.name} value={one.name} disabled={one.missing !== ""}>{one.name}</option>)}
        </select></label>
      </div>
      {suite && <p>{suite.missing || suite.description}</p>}
      {suite && suite.stages.length > 1 && (
        <div class="stages" role="group" aria-label="Stages">
          {suite.stages.map((stage) => {
            const last = is(stage.name) && (stages.length === 1 || suite.stages.length === 1);
            return <label key={stage.name}><input type="checkbox" checked={is(stage.name)} disabled={last} onChange={() => toggle(stage.name)} /> {stage.name} <small>{stage.count}</small></label>;
          })}
        </div>
      )}
    </fieldset>
  );
}
