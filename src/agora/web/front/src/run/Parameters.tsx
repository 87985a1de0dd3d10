// The form of a planner's parameters, made of its fields.
import { useState } from "preact/hooks";
import { useGet } from "../api";
import { FieldInput } from "./FieldInput";
import type { Chosen } from "./plannerText";
import type { Component } from "../schemas";

const MANY = 8; // from so many fields on there is a box to find one

type Props = { planner: string; chosen: Chosen; put(values: Record<string, string>): void };

export function Parameters({ planner, chosen, put }: Props) {
  const { data, error } = useGet<Component>(`/api/kinds/planners/${encodeURIComponent(planner)}`, true);
  const [find, setFind] = useState("");
  if (error) return <p class="bad">{error}</p>;
  if (!data) return <p class="faint">Reading the parameters …</p>;
  const wanted = find.trim().toLowerCase();
  const fields = data.fields.filter(({ name, help }) => `${name} ${help}`.toLowerCase().includes(wanted));
  const preset = chosen.name !== planner && !planner.startsWith("own:");
  return (
    <div class="parameters">
      <p class="faint">{preset ? `${chosen.name} is a preset of ${planner}: empty fields keep the values of the preset.` : "Empty fields keep their defaults, which are shown in grey."}</p>
      {data.fields.length >= MANY && <label class="find">Find a parameter <input type="search" value={find} onInput={(event) => setFind(event.currentTarget.value)} /></label>}
      <div class="fields">
        {fields.map((field) => (
          <FieldInput key={field.name} field={field} id={`${chosen.name}-${chosen.values["file"] ?? ""}-${field.name}`} value={chosen.values[field.name] ?? ""}
            put={(value) => put({ ...chosen.values, [field.name]: value })} />
        ))}
      </div>
      {!fields.length && <p class="faint">No parameter has “{find}” in its name or text.</p>}
    </div>
  );
}
