// Values that are lists: of numbers, of words, of choices, of records, of components.
import { useState } from "preact/hooks";
import type { Field } from "../api";
import { useSuiteContext } from "./context";
import { ComponentValue, first } from "./ComponentValue";
import { isPlain, same, type Plain } from "./model";
import { Labelled, RecordFields, Wrong, type ValueProps } from "./Values";
import type { Shape } from "../schemas";

type Props = ValueProps & { shape: Shape };

export function Lists(props: Props) {
  const { shape } = props;
  if (shape.of === "choice") return <Ticks {...props} choices={shape.choices} />;
  if (shape.of === "component" || shape.of === "record") return <Items {...props} />;
  return shape.length > 0 && shape.of !== "text" ? <Row {...props} /> : <Words {...props} />;
}

/** So many numbers, side by side. */
function Row({ field, value, path, put, shape }: Props) {
  const usual = Array.isArray(field.default) ? field.default : [], there = Array.isArray(value) ? value : [];
  const [typed, setTyped] = useState<string[] | null>(null);
  const text = (k: number) => typed?.[k] ?? (there[k] === undefined ? "" : String(there[k]));
  const take = (k: number, word: string) => {
    const words = Array.from({ length: shape.length }, (_, at) => (at === k ? word : text(at)));
    setTyped(words);
    if (words.every((one) => one === "")) { put(undefined); return; }
    const numbers = words.map((one, at) => (one === "" ? usual[at] ?? Number(word) : Number(one)));
    put(same(numbers, field.default) ? undefined : numbers);
  };
  return (
    <Labelled field={field} path={path} given={value !== undefined} group>
      <span class="numbers" onFocusOut={() => setTyped(null)}>
        {Array.from({ length: shape.length }, (_, k) => (
          <input key={k} id={k ? `${path}-${k}` : path} type="number" step={shape.of === "whole" ? 1 : "any"} aria-label={`${field.name}, ${shape.length === 2 ? ["first", "second"][k] : k + 1}`}
            aria-describedby={`${path}-help`} value={text(k)} placeholder={usual[k] === undefined ? "none" : String(usual[k])} onInput={(event) => take(k, event.currentTarget.value)} />
        ))}
      </span>
    </Labelled>
  );
}

/** Words or numbers with commas between them. */
function Words({ field, value, path, put, shape }: Props) {
  const [text, setText] = useState<string | null>(null), usual = Array.isArray(field.default) ? field.default : [];
  const take = (typed: string) => {
    setText(typed);
    const words = typed.split(",").map((word) => word.trim()).filter(Boolean), numbers = shape.of !== "text";
    const next = words.map((word) => (numbers && Number.isFinite(Number(word)) ? Number(word) : word));
    put(same(next, usual) || (!next.length && !usual.length) ? undefined : next);
  };
  return (
    <Labelled field={field} path={path} given={value !== undefined}>
      <input id={path} type="text" aria-describedby={`${path}-help`} value={text ?? (Array.isArray(value) ? value.map(String).join(", ") : "")} placeholder={usual.join(", ") || "none"}
        onInput={(event) => take(event.currentTarget.value)} onBlur={() => setText(null)} />
    </Labelled>
  );
}

export function Ticks({ field, value, path, put, choices }: ValueProps & { choices: string[] }) {
  const now = Array.isArray(value) ? value.map(String) : Array.isArray(field.default) ? field.default.map(String) : [];
  const all = [...choices, ...now.filter((one) => !choices.includes(one))];
  const toggle = (name: string) => {
    const next = now.includes(name) ? now.filter((one) => one !== name) : all.filter((one) => one === name || now.includes(one));
    put(same(next, field.default) ? undefined : next);
  };
  return (
    <Labelled field={field} path={path} given={value !== undefined} group>
      <span class="stages" id={path} tabIndex={-1}>
        {all.map((name) => <label key={name}><input type="checkbox" checked={now.includes(name)} onChange={() => toggle(name)} /> {name}</label>)}
      </span>
    </Labelled>
  );
}

/** Records or components, one after the other. */
function Items({ field, value, path, put, shape }: Props) {
  const around = useSuiteContext(), items = Array.isArray(value) ? (value as unknown[]) : [];
  const change = (next: unknown[]) => put(next.length ? next : undefined);
  const fields = around.records[shape.record]?.fields ?? [];
  const fresh = () => (shape.of === "component"
    ? around.kinds[shape.kind]?.names[0]
    : Object.fromEntries(fields.filter(({ required }) => required).map((one) => [one.name, first(one, around)])));
  const part: Field = { ...field, name: "", default: null, required: true, help: "", kind: shape.kind };
  return (
    <div class={items.length ? "field changed wide" : "field wide"} role="group" aria-labelledby={`${path}-name`}>
      <span class="key" id={`${path}-name`}>{field.label ?? field.name}</span>
      {items.map((item, k) => (
        <div key={k} class="item">
          <button type="button" class="close" aria-label={`Remove ${field.name} ${k + 1}`} onClick={() => change(items.filter((_, at) => at !== k))}>×</button>
          {shape.of === "component"
            ? <ComponentValue field={{ ...part, name: `${field.name} ${k + 1}` }} kind={shape.kind} value={item} path={`${path}[${k}]`} owner="" beside={{}} put={(next) => change(items.map((one, at) => (at === k ? next : one)))} />
            : <RecordFields fields={fields} value={isPlain(item) ? item : {}} path={`${path}[${k}]`} owner={shape.record} put={(next: Plain) => change(items.map((one, at) => (at === k ? next : one)))} />}
        </div>
      ))}
      <button type="button" id={path} onClick={() => change([...items, fresh()])}>Add to {field.name}</button>
      <Wrong path={path} />
      <p>{field.help}</p>
    </div>
  );
}
