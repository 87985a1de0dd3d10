// The fields of a training to change, those of its components below them.
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { useGet } from "../api";
import { FieldInput } from "../run/FieldInput";
import type { Component, TreeField } from "../schemas";

export type Values = Record<string, string>;
type Props = { fields: TreeField[]; values: Values; put(values: Values): void };

export function Changes({ fields, values, put }: Props) {
  const [find, setFind] = useState("");
  return (
    <div class="parameters">
      <p class="faint">Empty fields keep the values shown in grey. Lists are written as in YAML: <code>[64, 64]</code>.</p>
      <label class="find">Find a field <input type="search" value={find} placeholder="name or words" onInput={(event) => setFind(event.currentTarget.value)} /></label>
      <div class="tall-fields" tabIndex={0} role="region" aria-label="Fields of the training"><Fields fields={fields} values={values} put={put} find={find.trim().toLowerCase()} /></div>
    </div>
  );
}

function Fields({ fields, values, put, find }: Props & { find: string }) {
  const shown = (one: TreeField) => one.name in values || `${one.name} ${one.help}`.toLowerCase().includes(find);
  return (
    <div class="fields">
      {fields.map((field) => {
        const value = values[field.name] ?? "", set = (text: string) => put(text === "" ? without(values, field.name) : { ...values, [field.name]: text });
        const other = field.type === "component" && value !== "" && value !== nameIn(field.default);
        return (
          <Fragment key={field.name}>
            {shown(field) && <FieldInput field={field} id={`training-${field.name}`} value={value} put={set} />}
            {other ? <Other key={`${field.name} ${value}`} field={field} name={value} values={values} put={put} find={find} />
              : field.fields.length > 0 && <div class="inside"><Fields fields={field.fields} values={values} put={put} find={find} /></div>}
          </Fragment>
        );
      })}
    </div>
  );
}

/** The fields of a component that takes the place of another. */
function Other({ field, name, values, put, find }: { field: TreeField; name: string; values: Values; put(values: Values): void; find: string }) {
  const { data, error } = useGet<Component>(`/api/kinds/${field.kind}/${encodeURIComponent(name)}`, true);
  if (!data) return <p class={error ? "bad" : "faint"}>{error || "Reading the fields …"}</p>;
  const fields = data.fields.map((one) => ({ ...one, name: `${field.name}.${one.name}`, fields: [] }));
  return <div class="inside"><Fields fields={fields} values={values} put={put} find={find} /></div>;
}

/** The values without one key and without the keys below it. */
function without(values: Values, name: string): Values {
  return Object.fromEntries(Object.entries(values).filter(([key]) => key !== name));
}

const nameIn = (value: unknown) => (value !== null && typeof value === "object" && "name" in value ? String(value.name) : "");

/** The values as the server takes them. Names of components that are gone with their parent are left out. */
export function changesOf(fields: TreeField[], values: Values): Record<string, unknown> {
  const known = new Map<string, TreeField>(), note = (some: TreeField[]) => some.forEach((one) => { known.set(one.name, one); note(one.fields); });
  note(fields);
  const swapped = (name: string) => [...known.values()].some((one) => one.type === "component" && values[one.name] && values[one.name] !== nameIn(one.default) && name.startsWith(`${one.name}.`));
  return Object.fromEntries(Object.entries(values).filter(([, text]) => text.trim() !== "").map(([name, text]) => [name, typed(swapped(name) ? undefined : known.get(name)?.type, text.trim())]));
}

function typed(type: string | undefined, text: string): unknown {
  if (type === "yes" || (type === undefined && /^(true|false)$/.test(text))) return text === "true";
  const number = Number(text);
  return type !== "text" && type !== "choice" && type !== "component" && Number.isFinite(number) ? number : text;
}
