// The form of the selected element. Angles are degrees here and radians in the file.
import { useEffect, useState } from "preact/hooks";
import { Prose } from "../Prose";
import type { Field } from "../api";
import { apart, called, changed, doing, doubled, headingOf, movedTo, partners, people, placeOf, renamed, talkers, talksWith, things, turnedTo, without, type Content, type Part, type Person } from "./model";
import type { ScenarioParts } from "../schemas";

type Props = { content: Content; part: Part; parts: ScenarioParts; put(content: Content, tag?: string): void; select(part: Part | null): void };

const MODES: [string, string][] = [["2", "once, then stays at the last point"], ["0", "repeatedly"], ["1", "in random order, endlessly"]];
const REACTS: Record<string, string> = {
  regular: "steps aside", impassive: "ignores it", surprised: "stops and looks", curious: "comes closer", scared: "turns away", threatening: "blocks its path",
};
const SHOWN = ["name", "pos", "waypoints", "type", "waypoint_mode", "number_of_peds", "vmax", "heading", "state", "partners", "with", "state_time", "reaction", "yaml_file", "configuration", "id"];

export function Fields({ content, part, parts, put, select }: Props) {
  const tag = (key: string) => `${part.kind}.${part.number}.${part.key}.${part.k}.${key}`;
  const [x, y] = placeOf(content, part), turns = part.key !== "waypoints";
  const remove = () => { put(without(content, part)); select(part.key === "waypoints" ? { ...part, key: "pos", k: 0 } : null); };
  const person = part.kind === "dynamic" ? people(content)[part.number] : null;
  return (
    <section class="card fields-of" aria-label="Selected">
      <h2>{called(content, part)}</h2>
      {part.kind === "robots" && (
        <p class="faces" role="group" aria-label="Part of the robot">
          {(["start", "goal"] as const).map((key) => <button key={key} type="button" aria-pressed={part.key === key} onClick={() => select({ ...part, key })}>{key === "start" ? "Start" : "Goal"}</button>)}
        </p>
      )}
      <div class="few">
        {person && part.key === "pos" && <NameFields content={content} part={part} put={put} />}
        <NumberIn label="x" unit="m" value={x} put={(value) => put(movedTo(content, part, value, y), tag("x"))} />
        <NumberIn label="y" unit="m" value={y} put={(value) => put(movedTo(content, part, x, value), tag("y"))} />
        {turns && <NumberIn label="Heading" unit="°" help="0 is east, 90 is north" value={Math.round((headingOf(content, part) * 1800) / Math.PI) / 10} put={(value) => put(turnedTo(content, part, (value * Math.PI) / 180), tag("heading"))} />}
      </div>
      {person && part.key === "pos" && <OfPerson content={content} part={part} person={person} parts={parts} put={put} select={select} tag={tag} />}
      {(part.kind === "static" || part.kind === "interactive") && <OfThing content={content} part={part} kind={part.kind} parts={parts} put={put} />}
      <p class="start">
        {part.key !== "waypoints" && <button type="button" onClick={() => put(doubled(content, part))}>Double</button>}
        <button type="button" onClick={remove}>Delete {part.key === "waypoints" ? "this point" : ""}</button>
        {part.key === "waypoints" && <button type="button" onClick={() => select({ ...part, key: "pos", k: 0 })}>Back to {people(content)[part.number].name}</button>}
      </p>
    </section>
  );
}

function OfPerson({ content, part, person, parts, put, select, tag }: Props & { person: Person; tag(key: string): string }) {
  const set = (key: string, value: unknown, named?: string) => put(changed(content, part, { [key]: value }), named);
  const talks = talkers(content, part.number).map(({ name }) => name), others = people(content).filter(({ name }) => name !== person.name), state = doing(content, part.number);
  const points = person.waypoints ?? [], rest = parts.fields.filter(({ name }) => !SHOWN.includes(name)), given = rest.filter(({ name }) => name in person).length;
  return (
    <>
      <div class="few">
        <label>Type <select value={(person.type ?? "adult").replace(/^human\//, "")} onChange={(event) => set("type", event.currentTarget.value)}>
          {parts.types.map(({ name }) => <option key={name} value={name}>{name}</option>)}
        </select></label>
        <NumberIn label="How many" unit="" whole least={1} most={100} value={person.number_of_peds ?? 1} put={(value) => set("number_of_peds", value > 1 ? value : undefined, tag("many"))} />
        <NumberIn label="Speed" unit="m/s" least={0} most={10} empty="drawn" value={person.vmax as number | undefined} put={(value) => set("vmax", value, tag("vmax"))} clear={() => set("vmax", undefined)} />
      </div>
      <label class="row">Does <select value={state} onChange={(event) => set("state", event.currentTarget.value || undefined)}>
        <option value="">{points.length ? "walks" : "stands"}</option>
        {parts.states.map(({ name, walks }) => <option key={name} value={name} disabled={walks && !points.length}>{name}{walks && !points.length ? " (needs a path)" : ""}</option>)}
      </select></label>
      {state !== "" && <NumberIn label="For" unit="s" least={0} empty="to the end" value={person.state_time as number | undefined} put={(value) => set("state_time", value, tag("time"))} clear={() => set("state_time", undefined)} />}
      {others.length > 0 && (
        <details open={talks.length > 0}>
          <summary>Talks with {talks.length ? talks.join(", ") : "nobody"}</summary>
          <div class="stages" role="group" aria-label="Talks with">
            {others.map(({ name }) => <label key={name}><input type="checkbox" checked={talks.includes(name)} onChange={() => put(talks.includes(name) ? apart(content, part.number, name) : talksWith(content, part.number, [...partners(person), name]))} /> {name}</label>)}
          </div>
        </details>
      )}
      {points.length > 0
        ? (
          <details open>
            <summary>Way of {points.length} {points.length === 1 ? "point" : "points"}</summary>
            <label class="row">Walks it <select value={String(person.waypoint_mode ?? 1)} onChange={(event) => set("waypoint_mode", Number(event.currentTarget.value))}>
              {MODES.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
            </select></label>
            <p class="stages">
              {points.map((point, k) => <button key={k} type="button" class="point" title={`${point[0]}, ${point[1]}`} onClick={() => select({ ...part, key: "waypoints", k })}>{k + 1}</button>)}
              <button type="button" class="link" onClick={() => put(changed(content, part, { waypoints: undefined, ...(["walking", "running"].includes(state) ? { state: undefined } : {}) }))}>remove the path</button>
            </p>
          </details>
        )
        : <p class="faint">No path: stays at this position. Draw a path with the Way tool.</p>}
      <label class="row">To a robot <select value={String(person.reaction ?? "regular")} onChange={(event) => set("reaction", event.currentTarget.value === "regular" ? undefined : event.currentTarget.value)}>
        {parts.reactions.map((name) => <option key={name} value={name}>{name}{REACTS[name] ? `: ${REACTS[name]}` : ""}</option>)}
      </select></label>
      <details open={given > 0}>
        <summary>More{given ? `, ${given} given` : ""}</summary>
        <div class="fields">{rest.map((field) => <More key={field.name} field={field} value={person[field.name]} put={(value) => set(field.name, value, tag(field.name))} />)}</div>
      </details>
    </>
  );
}

function OfThing({ content, part, kind, parts, put }: Omit<Props, "select"> & { kind: "static" | "interactive" }) {
  const thing = things(content, kind)[part.number];
  return (
    <label class="row">Model <select value={thing.model} onChange={(event) => put(changed(content, part, { model: event.currentTarget.value }))}>
      {!parts.things.some(({ name }) => name === thing.model) && <option value={thing.model}>{thing.model}</option>}
      {parts.things.map(({ name }) => <option key={name} value={name}>{name.replaceAll("_", " ")}</option>)}
    </select></label>
  );
}

/** The name, which is taken over when it is free and the field is left. */
function NameFields({ content, part, put }: { content: Content; part: Part; put(content: Content): void }) {
  const now = people(content)[part.number].name, [text, setText] = useState(now);
  useEffect(() => setText(now), [now, part.number]);
  const taken = text !== now && people(content).some(({ name }) => name === text);
  const take = () => { if (text.trim() && text !== now && !taken) put(renamed(content, part, text.trim())); else setText(now); };
  return (
    <label class="wide">Name <input type="text" value={text} maxLength={60} aria-invalid={taken} onInput={(event) => setText(event.currentTarget.value)} onBlur={take} onKeyDown={(event) => { if (event.key === "Enter") take(); }} />
      {taken && <small class="bad">this name is already in use</small>}</label>
  );
}

type NumberProps = { label: string; unit: string; value: number | undefined | null; put(value: number): void; clear?(): void; help?: string; empty?: string; least?: number; most?: number; whole?: boolean };

function NumberIn({ label, unit, value, put, clear, help, empty, least, most, whole = false }: NumberProps) {
  const [text, setText] = useState<string | null>(null);
  const read = (typed: string) => {
    setText(typed);
    const number = Number(typed);
    if (typed.trim() === "") clear?.();
    else if (Number.isFinite(number) && (least === undefined || number >= least) && (most === undefined || number <= most) && (!whole || Number.isInteger(number))) put(number);
  };
  return (
    <label title={help}><span>{label} {unit && <small>{unit}</small>}</span>
      <input type="number" step={whole ? 1 : "any"} min={least} max={most} placeholder={empty} value={text ?? (value === undefined || value === null ? "" : String(Math.round(value * 1000) / 1000))}
        onInput={(event) => read(event.currentTarget.value)} onBlur={() => setText(null)} />
    </label>
  );
}

/** A key that few scenarios give. */
function More({ field, value, put }: { field: Field; value: unknown; put(value: unknown): void }) {
  const id = `key-${field.name}`, shared = { id, "aria-describedby": `${id}-help` }, text = value === undefined || value === null ? "" : String(value);
  return (
    <div class={text === "" ? "field" : "field changed"}>
      <label for={id}>{field.name}</label>
      {field.choices.length
        ? <select {...shared} value={text} onChange={(event) => put(event.currentTarget.value || undefined)}><option value="">as usual</option>{field.choices.map((one) => <option key={one} value={one}>{one}</option>)}</select>
        : field.type === "number" || field.type === "whole"
          ? <input {...shared} type="number" step="any" min={field.least ?? undefined} max={field.most ?? undefined} placeholder="as usual" value={text} onInput={(event) => put(event.currentTarget.value === "" ? undefined : event.currentTarget.valueAsNumber)} />
          : <input {...shared} type="text" placeholder="as usual" value={text} onInput={(event) => put(event.currentTarget.value || undefined)} />}
      <p id={`${id}-help`}><Prose text={field.help} /> <small>{field.words}</small></p>
    </div>
  );
}
