// One parameter of a component, with the control that its type asks for. Empty: the default.
import { Prose } from "../Prose";
import { useGet, type Field, type Kinds } from "../api";

type Props = { field: Field; id: string; value: string; put(value: string): void };

export function FieldInput({ field, id, value, put }: Props) {
  return (
    <div class={value === "" ? "field" : "field changed"}>
      <label for={id}>{field.label ?? field.name}</label>
      <Control field={field} id={id} value={value} put={put} />
      <p id={`${id}-help`}><Prose text={field.help} /> <small>{field.words}</small></p>
    </div>
  );
}

function Control({ field, id, value, put }: Props) {
  const kinds = useGet<Kinds>(field.type === "component" ? "/api/kinds" : "", true).data;
  const usual = shown(field.default), shared = { id, "aria-describedby": `${id}-help` };
  const options = field.type === "yes" ? ["true", "false"] : field.type === "choice" ? field.choices : field.type === "component" ? kinds?.[field.kind]?.names : undefined;
  if (options) {
    return (
      <select {...shared} value={value} onChange={(event) => put(event.currentTarget.value)}>
        <option value="">{usual || "as usual"}</option>
        {options.filter((one) => one !== usual).map((one) => <option key={one} value={one}>{one}</option>)}
      </select>
    );
  }
  if (field.type === "number" || field.type === "whole") {
    return <input {...shared} type="number" value={value} placeholder={usual || "none"} step={field.type === "whole" ? 1 : "any"} min={field.least ?? undefined} max={field.most ?? undefined}
      onInput={(event) => put(event.currentTarget.value)} />;
  }
  return <input {...shared} type="text" value={value} placeholder={usual || "none"} onInput={(event) => put(event.currentTarget.value)} />;
}

/** The value that a text of a control stands for. */
export function read(field: Field, text: string): unknown {
  if (field.type === "number" || field.type === "whole") return Number(text);
  return field.type === "yes" ? text === "true" : text;
}

/** A default in a few characters. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  if ("name" in value) return String(value.name);
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 38)} …` : text;
}
