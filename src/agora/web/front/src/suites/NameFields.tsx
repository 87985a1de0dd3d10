// Values that are names: robots, worlds, scenarios.
import { shown } from "../run/FieldInput";
import { useSuiteContext } from "./context";
import { Ticks } from "./Lists";
import { Labelled, Typed, type ValueProps } from "./Values";

export function NameFields(props: ValueProps) {
  const { field, value, beside, put } = props, { robots, worlds, scenarios } = useSuiteContext();
  if (field.name === "scenarios") {
    const world = String(beside.path ?? ""), there = scenarios.filter((one) => one.world === world && one.wrong === "");
    return <Ticks {...props} choices={there.map(({ name, origin }) => (origin === "own" ? `own/${name}` : name))} />;
  }
  if (field.name === "path") return <Choice {...props} names={worlds} />;
  if (Array.isArray(value)) {
    const words = (text: string) => { const names = text.split(",").map((name) => name.trim()).filter(Boolean); return names.length === 1 && !text.includes(",") ? names[0] : names; };
    return <Typed {...props} write={(names) => (Array.isArray(names) ? names.join(", ") : String(names))} parse={words} />;
  }
  return <Choice {...props} names={robots} more={<button type="button" class="link" onClick={() => put([String(value ?? field.default), String(value ?? field.default)])}>another model for each robot</button>} />;
}

function Choice({ field, value, path, put, names, more }: ValueProps & { names: string[]; more?: preact.JSX.Element }) {
  const usual = shown(field.default), there = value === undefined ? "" : String(value);
  return (
    <Labelled field={field} path={path} given={value !== undefined}>
      <select id={path} value={there} aria-describedby={`${path}-help`} onChange={({ currentTarget }) => put(currentTarget.value === "" ? undefined : currentTarget.value)}>
        {!field.required && <option value="">{usual}</option>}
        {field.required && there === "" && <option value="">choose one</option>}
        {there !== "" && !names.includes(there) && <option value={there}>{there}</option>}
        {names.filter((name) => name !== usual || field.required).map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
      {more}
    </Labelled>
  );
}
