// The elements of a scenario, its problems, and the behaviour of all elements.
import { called, doing, idOf, KINDS, partOf, people, things, type Content, type Part } from "./model";
import type { ScenarioCheck } from "../schemas";

type Props = { content: Content; selected: Part | null; checked: ScenarioCheck | null; select(part: Part): void };

export function Elements({ content, selected, checked, select }: Props) {
  const wrong = new Set(checked?.problems.map(({ element }) => element));
  const count = { robots: content.robots.length, dynamic: people(content).length, static: things(content, "static").length, interactive: things(content, "interactive").length };
  const all = KINDS.flatMap((kind) => Array.from({ length: count[kind] }, (_, number) => partOf(`${kind}.${number}`)));
  return (
    <section class="card" aria-labelledby="elements">
      <h2 id="elements">In this scene</h2>
      {all.length === 0 && <p class="faint">Nothing yet.</p>}
      <ul class="plain elements moves">
        {all.map((part) => (
          <li key={idOf(part)}>
            <button type="button" aria-pressed={selected !== null && idOf(selected) === idOf(part)} onClick={() => select(part)}>
              <i class={`dot ${part.kind}`} aria-hidden="true" />{called(content, part)} <small>{says(content, part)}</small>
              {wrong.has(idOf(part)) && <b class="bad"> !<span class="hidden"> has a problem</span></b>}
            </button>
          </li>
        ))}
      </ul>
      {all.length > 0 && <p class="faint"><small>For the selected element: arrows move it (with shift: farther), <kbd>[</kbd> <kbd>]</kbd> turn it, <kbd>del</kbd> removes it.</small></p>}
    </section>
  );
}

function says(content: Content, { kind, number }: Part): string {
  if (kind === "robots") return "";
  if (kind !== "dynamic") return things(content, kind)[number].model.replaceAll("_", " ");
  const person = people(content)[number], many = (person.number_of_peds ?? 1) > 1 ? `${person.number_of_peds} × ` : "";
  return `${many}${doing(content, number) || (person.waypoints?.length ? "walks" : "stands")}`;
}

export function Problems({ checked, select }: { checked: ScenarioCheck | null; select(part: Part): void }) {
  const problems = checked?.problems ?? [];
  return (
    <section class={problems.length ? "card problems" : "card"} aria-labelledby="problems" aria-live="polite">
      <h2 id="problems">{problems.length ? `${problems.length} ${problems.length === 1 ? "problem" : "problems"}` : "Problems"}</h2>
      {checked === null ? <p class="faint">Looking …</p> : problems.length === 0 ? <p class="good">None: the scenario can be played.</p> : (
        <ul>{problems.map(({ text, element }, k) => <li key={k}>{element ? <button type="button" class="link" onClick={() => select(partOf(element))}>{text}</button> : text}</li>)}</ul>
      )}
    </section>
  );
}

export function Sentences({ checked, select }: { checked: ScenarioCheck | null; select(part: Part): void }) {
  if (!checked?.sentences.length) return null;
  return (
    <section class="card sentences" aria-labelledby="sentences">
      <h2 id="sentences">What the robot and people will do</h2>
      <ul class="plain">{checked.sentences.map(({ text, element }, k) => <li key={k}><button type="button" class="text" onClick={() => select(partOf(element))}>{text}</button></li>)}</ul>
    </section>
  );
}
