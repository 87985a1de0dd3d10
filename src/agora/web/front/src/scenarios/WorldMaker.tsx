// Generates a world with a map generator: first a preview, then the world itself.
import { useEffect, useState } from "preact/hooks";
import { Prose } from "../Prose";
import { useMe } from "../account/me";
import { post, useGet, wordsOf, type Kinds } from "../api";
import { FieldInput, read } from "../run/FieldInput";
import { Picture } from "./Picture";
import type { Component, World } from "../schemas";

const LOOKS = 400; // ms after a change at which the generator is asked
const FORMS = ["number", "whole", "yes", "choice"];

export function WorldMaker({ made }: { made(name: string): void }) {
  const kinds = useGet<Kinds>("/api/kinds", true).data;
  const [generator, setGenerator] = useState("office"), [values, setValues] = useState<Record<string, string>>({}), [seed, setSeed] = useState(0);
  const [name, setName] = useState(""), [seen, setSeen] = useState<World | null>(null), [error, setError] = useState(""), [busy, setBusy] = useState(false), { may } = useMe();
  const component = useGet<Component>(`/api/kinds/map_generators/${generator}`, true).data;
  const fields = (component?.fields ?? []).filter(({ type }) => FORMS.includes(type));
  const asked = { generator, parameters: Object.fromEntries(fields.filter((field) => (values[field.name] ?? "") !== "").map((field) => [field.name, read(field, values[field.name])])), seed };
  const key = JSON.stringify(asked);
  useEffect(() => {
    let gone = false;
    const timer = setTimeout(() => {
      post<World>("/api/worlds/preview", JSON.parse(key)).then(
        (world) => { if (!gone) { setSeen(world); setError(""); } },
        (problem: unknown) => { if (!gone) { setSeen(null); setError(wordsOf(problem)); } },
      );
    }, LOOKS);
    return () => { gone = true; clearTimeout(timer); };
  }, [key]);
  const make = async () => {
    setBusy(true);
    try {
      const world = await post<World>("/api/worlds", { ...asked, name: name.trim() || `${generator}-${seed}` });
      made(world.name);
    } catch (problem) { setError(wordsOf(problem)); }
    setBusy(false);
  };
  return (
    <div class="maker">
      <label class="row">Generator <select value={generator} onChange={(event) => { setGenerator(event.currentTarget.value); setValues({}); }}>
        {(kinds?.map_generators?.names ?? [generator]).map((one) => <option key={one} value={one}>{one.replaceAll("_", " ")}</option>)}
      </select></label>
      {component && <p class="faint"><Prose text={component.summary} /></p>}
      <label class="row">Seed <input type="number" min={0} step={1} value={seed} onInput={(event) => setSeed(Math.max(0, Math.floor(event.currentTarget.valueAsNumber || 0)))} /></label>
      {error ? <p class="bad" role="alert">{error}</p> : seen ? <><Picture world={seen} label="Preview of the world from above" /><p class="faint">{seen.size[0]} × {seen.size[1]} m</p></> : <p class="faint">Drawing …</p>}
      <details>
        <summary>Parameters</summary>
        <div class="fields">{fields.map((field) => <FieldInput key={`${generator}.${field.name}`} id={`generator-${field.name}`} field={field} value={values[field.name] ?? ""} put={(value) => setValues((before) => ({ ...before, [field.name]: value }))} />)}</div>
      </details>
      <label class="row">Called <input type="text" value={name} maxLength={80} placeholder={`${generator}-${seed}`} onInput={(event) => setName(event.currentTarget.value)} /></label>
      <button type="button" disabled={busy || !seen || !may("run")} onClick={() => void make()}>Create this world</button>
    </div>
  );
}
