// All scenarios: one's own, those that come with Agora, and the beginning of a new one.
import { useEffect, useState } from "preact/hooks";
import { forget, get, remove, useGet, wordsOf } from "../api";
import { useMe } from "../account/me";
import { RoleNotice } from "../account/RoleNotice";
import { keep, keepAs, nameOf, Older } from "../own/server";
import { go } from "../router";
import type { Content } from "./model";
import { Picture } from "./Picture";
import { Open } from "../worlds/ImportFiles";
import { WorldMaker } from "./WorldMaker";
import { SCENARIO, type Kept } from "./server";
import type { ScenarioEntry, World, WorldEntry } from "../schemas";

export function Scenarios() {
  const [entries, setEntries] = useState<ScenarioEntry[] | null>(null), [error, setError] = useState("");
  const load = () => get<ScenarioEntry[]>("/api/scenarios").then(setEntries, (problem: unknown) => setError(wordsOf(problem)));
  const [world, setWorld] = useState("hall"), [worlds, setWorlds] = useState<WorldEntry[]>([]);
  const loadWorlds = () => get<WorldEntry[]>("/api/worlds").then(setWorlds, (problem: unknown) => setError(wordsOf(problem)));
  useEffect(() => { void load(); void loadWorlds(); }, []);
  const { me, may, owns } = useMe();
  const own = (entries ?? []).filter(({ origin }) => origin === "own"), others = (entries ?? []).filter(({ origin }) => origin !== "own");
  const copy = async ({ world, name }: ScenarioEntry) => {
    setError("");
    try {
      const found = await get<Kept>(`/api/worlds/${encodeURIComponent(world)}/scenarios/${encodeURIComponent(name)}`);
      open((await keepAs(SCENARIO, nameOf(found.name, "scenario"), found.content)).name);
    } catch (problem) { setError(wordsOf(problem)); }
  };
  const drop = async ({ name }: ScenarioEntry) => {
    if (!confirm(`Remove the scenario ${name} permanently?`)) return;
    try { await remove(`/api/scenarios/${encodeURIComponent(name)}`); forget("/api/suites"); await load(); } catch (problem) { setError(wordsOf(problem)); }
  };
  return (
    <>
      <h1>Scenarios</h1>
      <p>A scenario defines where robots start, where their goals are, and what each person does. Draw a scenario, watch it, and run planners on it; its file is what <code>agora run</code> and <code>agora bench</code> read.</p>
      <RoleNotice role="run" />
      {error && <p class="bad" role="alert">{error}</p>}
      <div class="columns begin">
        <div class="begin-lists">
          <h2>{me?.accounts ? "Drawn on this server" : "Yours"}</h2>
          {entries && !own.length && <p class="faint">None yet. Start a new one, or open a copy of one below.</p>}
          {own.length > 0 && <Table entries={own} title="Your scenarios" last={(one) => <button type="button" disabled={!owns(one.owner)} aria-label={`Remove ${one.name}`} onClick={() => void drop(one)}>Remove</button>} />}
          <h2 class="next">Examples</h2>
          {others.length > 0 && <Table entries={others} title="Scenarios of worlds" last={(one) => <button type="button" aria-label={`Open a copy of ${one.name} in ${one.world}`} disabled={one.wrong !== "" || !may("run")} onClick={() => void copy(one)}>Open a copy</button>} />}
        </div>
        <div class="editor-side">
          <New world={world} put={setWorld} worlds={worlds} load={loadWorlds} />
          <Open world={world} opened={(account) => { forget("/api/suites"); const [first] = account.scenarios; if (account.world) { setWorld(account.world); void loadWorlds(); } if (first && !account.dropped.length) open(first); else void load(); }} />
        </div>
      </div>
    </>
  );
}

const open = (name: string) => { forget("/api/suites"); go(`/scenarios/${encodeURIComponent(name)}`); };

function Table({ entries, title, last }: { entries: ScenarioEntry[]; title: string; last(entry: ScenarioEntry): preact.JSX.Element }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={title}>
      <table class="runs full">
        <thead><tr><th scope="col">Name</th><th scope="col">World</th><th scope="col" class="number">Robots</th><th scope="col" class="number">People</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
        <tbody>
          {entries.map((one) => (
            <tr key={`${one.world}/${one.name}/${one.origin}`}>
              <td class="title">{one.origin === "own" ? <a href={`/scenarios/${encodeURIComponent(one.name)}`}>{one.name}</a> : one.name}{one.owner && <small> {one.owner}</small>}{one.wrong && <small class="bad"> {one.wrong}</small>}</td>
              <td>{one.world}</td><td class="number">{one.robots}</td><td class="number">{one.people}</td><td>{last(one)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function New({ world, put, worlds, load }: { world: string; put(world: string): void; worlds: WorldEntry[]; load(): Promise<void> }) {
  const [makes, setMakes] = useState(false), [name, setName] = useState(""), [error, setError] = useState(""), [busy, setBusy] = useState(false), { may } = useMe();
  const shown = useGet<World>(`/api/worlds/${encodeURIComponent(world)}`, true);
  const chosen = worlds.find((one) => one.name === world), size = chosen?.size ?? [], own = chosen?.origin === "own";
  const create = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    const content: Content = { map: world, robots: [], obstacles: { static: [], interactive: [], dynamic: [] } };
    try { open((name.trim() ? await keep(SCENARIO, name.trim(), content, "") : await keepAs(SCENARIO, nameOf(`my-${world}`, "scenario"), content)).name); } catch (problem) {
      setError(problem instanceof Older ? `A scenario or suite called ${name.trim()} already exists; choose another name.` : wordsOf(problem));
    }
    setBusy(false);
  };
  return (
    <form class="card new" onSubmit={create}>
      <h2>A new one</h2>
      <label class="row">World <select value={world} onChange={(event) => put(event.currentTarget.value)}>
        {worlds.map((one) => <option key={one.name} value={one.name} disabled={one.missing !== ""}>{one.name}{one.origin === "own" ? ", yours" : ""}</option>)}
      </select></label>
      {shown.data && <Picture world={shown.data} label={`The world ${world} from above`} />}
      {size.length > 0 && <p class="faint">{size[0]} × {size[1]} m; <a href={own ? `/worlds/${encodeURIComponent(world)}` : "/worlds"}>{own ? "draw its walls" : "draw your own world"}</a></p>}
      <details open={makes} onToggle={(event) => setMakes(event.currentTarget.open)}>
        <summary>Generate a world for it</summary>
        {makes && <WorldMaker made={(made) => { setMakes(false); put(made); void load(); }} />}
      </details>
      <label class="row">Name <input type="text" value={name} maxLength={80} pattern="[A-Za-z0-9][A-Za-z0-9_\-]*" title="letters, digits, - and _" placeholder={`my-${world}`} onInput={(event) => setName(event.currentTarget.value)} /></label>
      <button type="submit" class="first" disabled={busy || !may("run")}>Draw it</button>
      {error && <p class="bad" role="alert">{error}</p>}
    </form>
  );
}
