// The forms of a suite's values, made of the fields of its records and components. undefined: left out of the file, so the default.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Field } from "../api";
import { FieldInput, read } from "../run/FieldInput";
import { Prose } from "../Prose";
import { isWrong, useSuiteContext } from "./context";
import { ComponentValue } from "./ComponentValue";
import { Lists } from "./Lists";
import { below, isPlain, same, withKey, type Plain } from "./model";
import { NameFields } from "./NameFields";
import type { Shape } from "../schemas";

/** Words for keys that are not self-explanatory. */
const WORDS: Record<string, string> = {
  "Stage.world": "World", "Stage.robot": "Robot", "Stage.robots": "Starts and goals", "Stage.pedestrians": "Planners' knowledge of people", "Stage.obstacles": "People and things",
  "Stage.timeout": "Time limit", "Stage.episodes": "Episodes", "CrowdSettings.model": "Crowd model", "random.dynamic": "People, minimum and maximum", "itineraries.people": "People, minimum and maximum",
  "groups.dynamic": "People, minimum and maximum", "random.static": "Round obstacles, minimum and maximum", "generated.generator": "Map generator", "Stage.name": "Name",
};

/** `owner`: name of the record or component that has the field; `beside`: its other values. */
export type ValueProps = { field: Field; value: unknown; path: string; owner: string; beside: Plain; put(value: unknown): void };

export function Value({ field, ...more }: ValueProps) {
  const words = WORDS[`${more.owner}.${field.name}`], props = { ...more, field: words ? { ...field, label: `${words} (${field.name})` } : field };
  const { shape, type, name } = field, { value, owner } = props;
  if (type === "component") return <ComponentValue {...props} kind={props.field.kind} />;
  if (["Stage.robot", "folder.path", "folder.scenarios"].includes(`${owner}.${name}`)) return <NameFields {...props} />;
  if (!shape) return isPlain(value) || Array.isArray(value) || type === "other" ? <Typed {...props} write={JSON.stringify} parse={plainOf} /> : <Scalar {...props} />;
  if (shape.of === "shares") return <Typed {...props} write={sharesWritten} parse={sharesRead} />;
  if (shape.of === "record" && !shape.many) return <RecordValue {...props} shape={shape} />;
  if (value !== undefined && !Array.isArray(value)) return <Typed {...props} write={JSON.stringify} parse={plainOf} />;
  return <Lists {...props} shape={shape} />;
}

function Scalar({ field, value, path, put }: ValueProps) {
  const [text, setText] = useState<string | null>(null);
  const take = (typed: string) => {
    setText(typed);
    const next = typed === "" ? undefined : read(field, typed);
    put(!field.required && same(next, field.default) ? undefined : next);
  };
  const usual = value === undefined || value === null || (same(value, field.default) && (field.choices.length > 0 || field.type === "yes"));
  return (
    <div onFocusOut={() => setText(null)}>
      <FieldInput field={field} id={path} value={text ?? (usual ? "" : String(value))} put={take} />
      <Wrong path={path} />
    </div>
  );
}

/** A value that is typed as a text. */
export function Typed({ field, value, path, put, write, parse }: ValueProps & { write(value: unknown): string; parse(text: string): unknown }) {
  const [text, setText] = useState<string | null>(null);
  const take = (typed: string) => { setText(typed); put(typed.trim() === "" ? undefined : parse(typed)); };
  return (
    <Labelled field={field} path={path} given={value !== undefined}>
      <input id={path} type="text" aria-describedby={`${path}-help`} value={text ?? (value === undefined || value === null ? "" : typeof value === "string" ? value : write(value))}
        placeholder={field.default === null ? "none" : typeof field.default === "string" ? field.default : write(field.default)} onInput={(event) => take(event.currentTarget.value)} onBlur={() => setText(null)} />
    </Labelled>
  );
}

/** The value of a text: JSON, or the text itself. */
function plainOf(text: string): unknown {
  try { return JSON.parse(text); } catch { return text; }
}

const sharesWritten = (value: unknown) => (isPlain(value) ? Object.entries(value).map(([name, share]) => `${name}: ${String(share)}`).join(", ") : String(value));

function sharesRead(text: string): unknown {
  const parts = text.split(",").map((part) => part.split(":").map((word) => word.trim()));
  const good = parts.every(([name, share, ...more]) => name && share && !more.length && Number.isFinite(Number(share)));
  return good ? Object.fromEntries(parts.map(([name, share]) => [name, Number(share)])) : text;
}

function RecordValue({ field, value, path, put, shape }: ValueProps & { shape: Shape }) {
  const around = useSuiteContext(), fields = around.records[shape.record]?.fields ?? [], { word, optional } = shape;
  if (value !== undefined && value !== null && !isPlain(value) && !(word && typeof value === "string")) return <Typed field={field} value={value} path={path} owner="" beside={{}} put={put} write={JSON.stringify} parse={plainOf} />;
  const there: Plain = typeof value === "string" ? { [word]: value } : isPlain(value) ? value : {}, given = Object.keys(there).length;
  const none = optional && (value === undefined || value === null), label = field.label ?? field.name;
  const take = (next: Plain) => {
    const [only, ...more] = Object.keys(next);
    if (only === undefined) put(optional ? {} : undefined);
    else if (word && only === word && !more.length) put(same(next[only], field.default) ? undefined : next[only]);
    else put(word && !(word in next) ? { [word]: field.default, ...next } : next);
  };
  const chooses = fields.find(({ name }) => name === word), rest = fields.filter(({ name }) => name !== word), count = given - (word in there ? 1 : 0);
  return (
    <div class={given || (optional && !none) ? "field changed wide" : "field wide"}>
      {optional && <label><input type="checkbox" checked={!none} onChange={() => put(none ? {} : undefined)} /> {label}</label>}
      {chooses && <FieldInput field={{ ...chooses, ...(field.label ? { label } : { label: field.name }), default: field.default, help: field.help, words: "" }} id={path} value={typeof there[word] === "string" ? String(there[word]) : ""} put={(text) => take(withKey(there, word, text || undefined, [word]))} />}
      {!none && (
        <details open={count > 0 || isWrong(around, path)}>
          <summary {...(chooses ? {} : { id: path })}><code>{chooses ? "its parameters" : label}</code> <small>{count ? `${count} given` : "as usual"}</small></summary>
          <RecordFields fields={rest} value={there} path={path} owner={shape.record} put={take} known={word ? [word] : []} />
        </details>
      )}
      <Wrong path={path} />
      {!chooses && <p><Prose text={field.help} /></p>}
    </div>
  );
}

type Fields = { fields: Field[]; value: Plain; path: string; owner: string; put(value: Plain, key: string): void; more?: string[]; known?: string[] };

/** The fields of a record, those in `more` behind a press; keys that it does not have can be taken out. */
export function RecordFields({ fields, value, path, owner, put, more = [], known = [] }: Fields) {
  const around = useSuiteContext(), order = [...known, ...fields.map(({ name }) => name)];
  const row = (field: Field) => (
    <Value key={field.name} field={field} value={value[field.name]} path={below(path, field.name)} owner={owner} beside={value} put={(next) => put(withKey(value, field.name, next, order), field.name)} />
  );
  const strange = Object.keys(value).filter((key) => !order.includes(key)), behind = fields.filter(({ name }) => more.includes(name));
  const given = behind.filter(({ name }) => value[name] !== undefined).length;
  return (
    <>
      <div class="fields">{fields.filter(({ name }) => !more.includes(name)).map(row)}</div>
      {behind.length > 0 && (
        <details open={behind.some(({ name }) => isWrong(around, below(path, name)))}>
          <summary>{behind.length} more{given > 0 && `, ${given} given`}</summary>
          <div class="fields">{behind.map(row)}</div>
        </details>
      )}
      {strange.map((key) => (
        <p key={key} class="bad"><code>{key}</code>: {around.wrong.get(below(path, key))?.join("; ") ?? "unknown key"} <button type="button" id={below(path, key)} onClick={() => put(withKey(value, key, undefined, order), key)}>Remove it</button></p>
      ))}
    </>
  );
}

export function Labelled({ field, path, given, group = false, children }: { field: Field; path: string; given: boolean; group?: boolean; children: ComponentChildren }) {
  return (
    <div class={given ? "field changed" : "field"} {...(group ? { role: "group", "aria-labelledby": `${path}-name` } : {})}>
      {group ? <span class="key" id={`${path}-name`}>{field.label ?? field.name}</span> : <label for={path}>{field.label ?? field.name}</label>}
      {children}
      <Wrong path={path} />
      <p id={`${path}-help`}><Prose text={field.help} />{!field.shape && <small>{field.words}</small>}</p>
    </div>
  );
}

/** The problem of the value of a key. */
export function Wrong({ path }: { path: string }) {
  const words = useSuiteContext().wrong.get(path);
  return words ? <p class="bad wrong">{words.join("; ")}</p> : null;
}
