// All worlds: one's own to draw in, the others to copy, and the beginning of a new one.
import { useEffect, useState } from "preact/hooks";
import { useMe } from "../account/me";
import { RoleNotice } from "../account/RoleNotice";
import { forget, get, post, remove, useGet, wordsOf } from "../api";
import { go } from "../router";
import { Picture } from "../scenarios/Picture";
import { WorldMaker } from "../scenarios/WorldMaker";
import { Open } from "./ImportFiles";
import type { World, WorldEntry } from "../schemas";

export function Worlds() {
  const [worlds, setWorlds] = useState<WorldEntry[] | null>(null), [error, setError] = useState(""), [makes, setMakes] = useState(false), { me, may, owns } = useMe();
  const load = () => get<WorldEntry[]>("/api/worlds").then(setWorlds, (problem: unknown) => setError(wordsOf(problem)));
  useEffect(() => { void load(); }, []);
  const own = (worlds ?? []).filter(({ origin }) => origin === "own"), others = (worlds ?? []).filter(({ origin }) => origin !== "own");
  const copy = async ({ name }: WorldEntry) => {
    const taken = new Set((worlds ?? []).map((one) => one.name));
    let free = `my-${name}`;
    for (let k = 2; taken.has(free); k++) free = `my-${name}-${k}`;
    try { await post("/api/worlds/copy", { name: free, of: name }); go(`/worlds/${encodeURIComponent(free)}`); } catch (problem) { setError(wordsOf(problem)); }
  };
  const drop = async ({ name }: WorldEntry) => {
    if (!confirm(`Remove the world ${name} permanently?`)) return;
    setError("");
    try { await remove(`/api/worlds/${encodeURIComponent(name)}`); forget(`/api/worlds/${encodeURIComponent(name)}`); await load(); } catch (problem) { setError(wordsOf(problem)); }
  };
  return (
    <>
      <h1>Worlds</h1>
      <p>A world has walls, zones and furniture. Draw a world or open an existing one; scenarios add robots and people.</p>
      {error && <p class="bad" role="alert">{error}</p>}
      <RoleNotice role="run" />
      <div class="columns begin">
        <div class="begin-lists">
          <h2>{me?.accounts ? "Drawn on this server" : "Yours"}</h2>
          {worlds && !own.length && <p class="faint">None yet. Start an empty one, or draw in a copy of one below.</p>}
          {own.length > 0 && <Table worlds={own} title="Your worlds" last={(one) => <button type="button" disabled={!owns(one.owner)} aria-label={`Remove ${one.name}`} onClick={() => void drop(one)}>Remove</button>} />}
          <h2 class="next">Examples</h2>
          {others.length > 0 && <Table worlds={others} title="Worlds of Agora" last={(one) => <button type="button" aria-label={`Draw in a copy of ${one.name}`} disabled={one.missing !== "" || !may("run")} onClick={() => void copy(one)}>Draw in a copy</button>} />}
        </div>
        <div class="editor-side">
          <Empty />
          <Open opened={() => void load()} />
          <section class="card new"><details onToggle={(event) => setMakes(event.currentTarget.open)}><summary>Generate one</summary>{makes && <WorldMaker made={(made) => go(`/worlds/${encodeURIComponent(made)}`)} />}</details></section>
        </div>
      </div>
    </>
  );
}

function Table({ worlds, title, last }: { worlds: WorldEntry[]; title: string; last(world: WorldEntry): preact.JSX.Element }) {
  const [shown, setShown] = useState(""), found = useGet<World>(shown ? `/api/worlds/${encodeURIComponent(shown)}` : "", true);
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={title}>
        <table class="runs full">
          <thead><tr><th scope="col">Name</th><th scope="col" class="number">Size, m</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
          <tbody>{worlds.map((one) => (
            <tr key={one.name}>
              <td class="title">{one.origin === "own" ? <a href={`/worlds/${encodeURIComponent(one.name)}`}>{one.name}</a> : <button type="button" class="link" aria-expanded={shown === one.name} onClick={() => setShown(shown === one.name ? "" : one.name)}>{one.name}</button>}{one.missing && <small class="bad"> {one.missing}</small>}</td>
              <td class="number">{one.size.join(" × ")}</td><td>{last(one)}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
      {shown && found.data && <Picture world={found.data} label={`The world ${shown} from above`} />}
    </>
  );
}

const SIZES: [string, "width" | "height" | "resolution" | "wall", number, number][] = [["Width m", "width", 10, 0.5], ["Height m", "height", 8, 0.5], ["Cells m", "resolution", 0.05, 0.01], ["Wall around m", "wall", 0.1, 0.05]];

function Empty() {
  const [name, setName] = useState(""), [values, setValues] = useState<Record<string, number>>(Object.fromEntries(SIZES.map(([, key, usual]) => [key, usual]))), [error, setError] = useState(""), [busy, setBusy] = useState(false), { may } = useMe();
  const make = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try { go(`/worlds/${encodeURIComponent((await post<World>("/api/worlds/empty", { name: name.trim() || "my-world", ...values })).name)}`); } catch (problem) { setError(wordsOf(problem)); }
    setBusy(false);
  };
  return (
    <form class="card new" onSubmit={make}>
      <h2>An empty one</h2>
      <label class="row">Name <input type="text" value={name} maxLength={80} pattern="[A-Za-z0-9][A-Za-z0-9_\-]*" title="letters, digits, - and _" placeholder="my-world" onInput={(event) => setName(event.currentTarget.value)} /></label>
      <div class="few two">{SIZES.map(([words, key, , step]) => <label key={key}>{words} <input type="number" min={key === "wall" ? 0 : step} step={step} required value={values[key]} onInput={({ currentTarget }) => setValues((before) => ({ ...before, [key]: currentTarget.valueAsNumber }))} /></label>)}</div>
      <button type="submit" class="first" disabled={busy || !may("run")}>Draw it</button>
      {error && <p class="bad" role="alert">{error}</p>}
    </form>
  );
}
