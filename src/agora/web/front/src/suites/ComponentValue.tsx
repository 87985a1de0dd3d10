// A component of the registry: which one, and its parameters.
import { useRef } from "preact/hooks";
import { get, useGet, type Field } from "../api";
import { Prose } from "../Prose";
import { SuiteContext, isWrong, useSuiteContext, type SuiteSurroundings } from "./context";
import { begun, isPlain, type Plain } from "./model";
import { RecordFields, Typed, Wrong, type ValueProps } from "./Values";
import type { Component } from "../schemas";

const FEW = 10; // so many parameters are shown at once

export function ComponentValue(props: ValueProps & { kind: string }) {
  const { field, value, path, put, kind } = props, around = useSuiteContext();
  const usual = isPlain(field.default) ? String(field.default.name) : typeof field.default === "string" ? field.default : "";
  const given = value !== undefined && value !== null, mapping = isPlain(value) ? value : null;
  const name = typeof value === "string" ? value : mapping ? String(mapping.name ?? "") : usual;
  const known = around.kinds[kind]?.names ?? [];
  const { data } = useGet<Component>(known.includes(name) ? address(kind, name) : "", true);
  const latest = useRef(props);
  latest.current = props;
  const choose = async (next: string) => {
    put(next === "" ? undefined : next);
    if (next === "") return;
    const whole = begun(next, await get<Component>(address(kind, next)).catch(() => undefined), (one) => first(one, around));
    if (whole !== next && latest.current.value === next) latest.current.put(whole);
  };
  if (given && typeof value !== "string" && !mapping) return <Typed {...props} write={JSON.stringify} parse={String} />;
  const take = (next: Plain) => {
    const bare = Object.keys(next).length === 1;
    put(!bare ? next : !field.required && name === usual ? undefined : name);
  };
  const fields = data?.fields ?? [], count = Object.keys(mapping ?? {}).length - (mapping && "name" in mapping ? 1 : 0), many = fields.length > FEW;
  const form = (
    <SuiteContext.Provider value={{ ...around, records: { ...around.records, ...data?.records } }}>
      <RecordFields fields={fields} value={mapping ?? { name }} path={path} owner={name} put={take} known={["name"]} />
    </SuiteContext.Provider>
  );
  return (
    <div class={given ? "field changed wide component" : "field wide component"}>
      <label for={path}>{field.label ?? field.name}</label>
      <select id={path} value={given ? name : ""} aria-describedby={`${path}-help`} onChange={(event) => void choose(event.currentTarget.value)}>
        {(!field.required || !given) && <option value="">{usual || (field.required ? "choose one" : "as usual")}</option>}
        {given && !known.includes(name) && <option value={name}>{name || "choose one"}</option>}
        {known.filter((one) => one !== usual || (given && one === name)).map((one) => <option key={one} value={one}>{one}</option>)}
      </select>
      <Wrong path={path} />
      <p id={`${path}-help`}><Prose text={field.help} /></p>
      {data && <p class="faint"><Prose text={data.summary} /></p>}
      {fields.length > 0 && (many
        ? <details open={isWrong(around, path)}><summary>{fields.length} parameters{count > 0 && `, ${count} given`}</summary>{form}</details>
        : <div class="inner">{form}</div>)}
    </div>
  );
}

export const address = (kind: string, name: string) => `/api/kinds/${kind}/${encodeURIComponent(name)}`;

/** Something to begin with for a parameter that must be given. */
export function first(field: Field, { kinds, worlds }: SuiteSurroundings): unknown {
  if (field.type === "component") return kinds[field.kind]?.names[0] ?? "";
  if (field.name === "path") return worlds.includes("hall") ? "hall" : worlds[0] ?? "";
  if (field.choices.length) return field.choices[0];
  return field.type === "text" ? "" : field.least ?? 0;
}
