// All suites: one's own, those that come with Agora, and the beginning of a new one.
import { useEffect, useState } from "preact/hooks";
import { useMe } from "../account/me";
import { RoleNotice } from "../account/RoleNotice";
import { forget, get, remove, useGet, wordsOf } from "../api";
import { keep, keepAs, nameOf, Older } from "../own/server";
import { go } from "../router";
import type { Content, Plain } from "./model";
import { SUITE } from "./server";
import type { Suite, SuiteFile, WorldEntry } from "../schemas";

const MOST = 256 << 10; // bytes of a file
const OWN = "own/";

/** A stage to begin with: it can be played as it is. */
export const FRESH: Plain = {
  name: "stage_1", episodes: 5, world: { name: "folder", path: "hall" }, robots: { name: "random", distance: 5 }, obstacles: { name: "random", dynamic: [5, 5] },
};

export function Suites() {
  const [suites, setSuites] = useState<Suite[] | null>(null), [error, setError] = useState(""), { may } = useMe();
  const load = () => get<Suite[]>("/api/suites").then(setSuites, (problem: unknown) => setError(wordsOf(problem)));
  useEffect(() => { void load(); }, []);
  const own = (suites ?? []).filter(({ kind }) => kind === "suite"), library = (suites ?? []).filter(({ kind }) => kind === "library");
  const copy = async (path: string, name: string) => {
    setError("");
    try { open((await keepAs(SUITE, nameOf(name, "suite"), (await get<SuiteFile>(path)).text)).name); } catch (problem) { setError(wordsOf(problem)); }
  };
  const drop = async (name: string) => {
    if (!confirm(`Remove the suite ${name} permanently?`)) return;
    try { await remove(`${SUITE.api}/${encodeURIComponent(name)}`); forget("/api/suites"); await load(); } catch (problem) { setError(wordsOf(problem)); }
  };
  return (
    <>
      <h1>Suites</h1>
      <RoleNotice role="run" />
      <p>A suite is a list of stages. A stage defines where its episodes take place, how many there are, which robot drives, and which people walk there; places, people and goals are then the same for every planner.
        Compose a suite, look at its episodes, and run planners on it. Its file is what <code>agora bench</code> reads.</p>
      {error && <p class="bad" role="alert">{error}</p>}
      {!suites && !error && <p class="faint" role="status">Reading the suites …</p>}
      <div class="columns begin">
        <div class="begin-lists">
          <h2>Yours</h2>
          {suites && !own.length && <p class="faint">None yet. Start a new one, or open a copy of one below.</p>}
          {own.length > 0 && <Table suites={own} title="Your suites" last={({ name, missing }) => may("run") && (
            <span class="bar-part">
              <button type="button" aria-label={`Open a copy of ${bare(name)}`} disabled={missing !== ""} onClick={() => void copy(`${SUITE.api}/${encodeURIComponent(bare(name))}`, bare(name))}>Copy</button>
              <button type="button" aria-label={`Remove ${bare(name)}`} onClick={() => void drop(bare(name))}>Remove</button>
            </span>
          )} />}
          <h2 class="next">Suites included in Agora</h2>
          {library.length > 0 && <Table suites={library} title="Suites that come with Agora" last={({ name, missing }) => may("run") && <button type="button" aria-label={`Open a copy of ${name}`} disabled={missing !== ""} onClick={() => void copy(`/api/suites/${encodeURIComponent(name)}`, name)}>Open a copy</button>} />}
        </div>
        <New />
      </div>
    </>
  );
}

const firstOf = (text: string) => /^.*?(?<!\bal)\.(?= |$)/s.exec(text)?.[0] ?? text;
const bare = (name: string) => name.replace(OWN, "");
const open = (name: string) => { forget("/api/suites"); go(`/suites/${encodeURIComponent(name)}`); };

function Table({ suites, title, last }: { suites: Suite[]; title: string; last(suite: Suite): preact.JSX.Element | false }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={title}>
      <table class="runs full suites">
        <thead><tr><th scope="col">Name</th><th scope="col">Description</th><th scope="col" class="number">Stages</th><th scope="col" class="number">Episodes</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
        <tbody>
          {suites.map((one) => (
            <tr key={one.name}>
              <td class="title">{one.kind === "suite" ? <a href={`/suites/${encodeURIComponent(bare(one.name))}`}>{bare(one.name)}</a> : one.name}</td>
              <td class="words">{one.missing ? <span class="bad">{one.missing}</span> : firstOf(one.description)}</td>
              <td class="number" title={one.stages.map(({ name }) => name).join(", ")}>{one.stages.length || ""}</td>
              <td class="number">{one.stages.length ? one.stages.reduce((sum, { count }) => sum + count, 0) : ""}</td>
              <td>{last(one)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function New() {
  const worlds = useGet<WorldEntry[]>("/api/worlds").data ?? [];
  const [world, setWorld] = useState("hall"), [name, setName] = useState(""), [error, setError] = useState(""), [busy, setBusy] = useState(false);
  const create = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    const content: Content = { name: "", version: 1, seed: 0, stages: [{ ...FRESH, world: { name: "folder", path: world } }] };
    try { open((name.trim() ? await keep(SUITE, name.trim(), content, "") : await keepAs(SUITE, "my-suite", content)).name); } catch (problem) {
      setError(problem instanceof Older ? `A suite or scenario called ${name.trim()} already exists; choose another name.` : wordsOf(problem));
    }
    setBusy(false);
  };
  const upload = async (file: File | undefined) => {
    if (!file) return;
    setError("");
    if (file.size > MOST) { setError(`${file.name} is larger than 256 KiB; a suite's file is a few kilobytes.`); return; }
    try { open((await keepAs(SUITE, nameOf(file.name, "suite"), await file.text())).name); } catch (problem) { setError(`${file.name}: ${wordsOf(problem)}`); }
  };
  return (
    <form class="card new" onSubmit={create}>
      <h2>A new one</h2>
      <label class="row">Name <input type="text" value={name} maxLength={80} pattern="[A-Za-z0-9][A-Za-z0-9_\-]*" title="letters, digits, - and _" placeholder="my-suite" onInput={(event) => setName(event.currentTarget.value)} /></label>
      <label class="row">World <select value={world} onChange={(event) => setWorld(event.currentTarget.value)}>
        {worlds.map((one) => <option key={one.name} value={one.name} disabled={one.missing !== ""}>{one.name}{one.origin === "own" ? ", yours" : ""}</option>)}
      </select></label>
      <p class="faint"><small>World of the first stage. The editor can change it, or use a map generator (<code>generated</code>).</small></p>
      <button type="submit" class="first" disabled={busy}>Create the suite</button>
      <hr />
      <label class="row">Or open a file <input type="file" accept=".yaml,.yml,.json,application/yaml" onChange={(event) => { void upload(event.currentTarget.files?.[0]); event.currentTarget.value = ""; }} /></label>
      <p class="faint"><small>An Agora suite, up to 256 KiB; it is named after the file. It must refer to worlds and scenarios by name, not by path.</small></p>
      {error && <p class="bad" role="alert">{error}</p>}
    </form>
  );
}
