// Requests a run: a suite, planners, a number of episodes. The options are those of `agora bench`.
import { useState } from "preact/hooks";
import { useMe } from "../account/me";
import { RoleNotice } from "../account/RoleNotice";
import { isCode, isOwn, post, useGet, wordsOf, type Form, type Run } from "../api";
import { news, useNews } from "../news";
import { go } from "../router";
import { PlannerPicker } from "./PlannerPicker";
import { Queue } from "./Queue";
import { SuitePicker } from "./SuitePicker";
import { parsePlanner, textOf, type Chosen } from "./plannerText";
import { expected } from "./estimate";
import type { Planner, Policy, Suite } from "../schemas";

const LEVELS: [string, string][] = [
  ["", "as specified in the suite"], ["truth", "true states of all people"], ["visible", "true states of people that the lidar sees"], ["view", "true states of people in a cone ahead"], ["tracked", "tracks from the lidar"], ["camera", "tracks from the camera"],
];

export function RunPage({ asked }: { asked: URLSearchParams }) {
  const suites = useGet<Suite[]>("/api/suites", true), planners = useGet<Planner[]>("/api/planners", true);
  const kept = useGet<Policy[]>("/api/policies"), policies = kept.data ?? [], trained = policies.filter(({ run }) => run);
  const [suite, setSuite] = useState(asked.get("suite") ?? "demo");
  const [stages, setStages] = useState<string[]>(asked.getAll("stages"));
  const [chosen, setChosen] = useState<Chosen[]>(asked.getAll("planner").map(parsePlanner));
  const [episodes, setEpisodes] = useState(asked.get("episodes") ?? "");
  const [level, setLevel] = useState(asked.get("pedestrians") ?? "");
  const [control, setControl] = useState(true);
  const [seed, setSeed] = useState(asked.get("seed") ?? "");
  const [title, setTitle] = useState("");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false), { may } = useMe(), { runs } = useNews();

  const form: Form = {
    suite, planners: chosen.map(textOf), ...(stages.length ? { stages } : {}), ...(episodes ? { episodes: Number(episodes) } : {}),
    ...(level ? { pedestrians: [level] } : {}), ...(seed ? { seed: Number(seed) } : {}), ...(control ? {} : { control: false }),
  };
  const counts = (suites.data?.find(({ name }) => name === suite)?.stages ?? []).filter(({ name }) => !stages.length || stages.includes(name));
  const each = counts.reduce((sum, { count }) => sum + (episodes ? Math.min(count, Number(episodes)) : count), 0);
  const short = episodes ? counts.filter(({ count }) => count < Number(episodes)) : [];
  const few = short.length ? `; ${short.length === 1 ? "one stage has" : `${short.length} stages have`} fewer than ${episodes}` : "";
  const start = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    try {
      const run = await post<Run>("/api/runs", title.trim() ? { ...form, title: title.trim() } : form);
      news.put(run);
      go(`/results/${run.id}`);
    } catch (problem) {
      setError(wordsOf(problem));
      setBusy(false);
    }
  };

  return (
    <>
      <h1>Run planners on a suite</h1>
      {(suites.error || planners.error) && <p class="bad" role="alert">{suites.error || planners.error}</p>}
      <RoleNotice role="run" />
      <div class="columns">
        {/* A list that arrives later would move the element that the user is about to click. */}
        {!(suites.data && planners.data && (kept.data || kept.error)) ? <p class="faint">Reading suites and planners …</p> : <form class="run" onSubmit={start}>
          <SuitePicker suites={suites.data} name={suite} stages={stages} put={(name, some) => { setSuite(name); setStages(some); }} />
          <PlannerPicker planners={planners.data} own={trained} chosen={chosen} put={setChosen} />
          <fieldset>
            <legend>3. Episodes and settings</legend>
            <div class="pair">
              <label>Episodes per stage <input type="number" min={1} step={1} value={episodes} placeholder="all" onInput={(event) => setEpisodes(event.currentTarget.value)} /></label>
              <label>Planners' knowledge of people <select value={level} onChange={(event) => setLevel(event.currentTarget.value)}>
                {LEVELS.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
              </select></label>
              <label>Seed <input type="number" min={0} step={1} value={seed} placeholder="from the suite" onInput={(event) => setSeed(event.currentTarget.value)} /></label>
              <label>Title <input type="text" maxLength={200} value={title} placeholder="suite and planners" onInput={(event) => setTitle(event.currentTarget.value)} /></label>
            </div>
            <p><label><input type="checkbox" checked={control} onChange={() => setControl(!control)} /> also run a planner that does not see people, as a reference</label></p>
          </fieldset>
          {error && <p class="bad" role="alert">{error}</p>}
          <div class="start">
            <button type="submit" class="first" disabled={busy || !chosen.length || !may("run")}>Start the run</button>
            <span>{chosen.length ? `${each} ${each === 1 ? "episode" : "episodes"} for each of ${chosen.length} ${chosen.length === 1 ? "planner" : "planners"}${control ? " and for the blind reference" : ""}${few}` : "Select at least one planner."}</span>
          </div>
          {chosen.length > 0 && each > 0 && <p class="faint">{expected({ each, total: each * (chosen.length + (control ? 1 : 0)), compared: chosen.length > 1, runs: runs ?? [] })}</p>}
          {chosen.length > 0 && <p class="faint">The same on the command line: <code class="command">{command({ ...form, planners: chosen.map((one) => filed(textOf(one), policies, planners.data ?? [])) }, suites.data?.find(({ name }) => name === suite)?.path)}</code></p>}
        </form>}
        <Queue />
      </div>
    </>
  );
}

/** The text of a planner with the files of own policies and planners, which a terminal takes; own/NAME alone is the planner of the policy. */
function filed(text: string, policies: Policy[], planners: Planner[]): string {
  const code = planners.find((one) => isCode(one) && new RegExp(`^${one.name}(?![\\w-])`).test(text));
  if (code) {
    const [values = "", ...front] = text.slice(code.name.length).replace(/^:/, "").split(/\+(?=[A-Za-z_])/);
    return [`contained:file=${code.path}${values && `,values={${values.replace(/(^|,)\s*(\w+)=/g, "$1$2: ")}}`}`, ...front].join("+");
  }
  const own = policies.filter(isOwn), alone = own.find(({ name }) => text === name || text.startsWith(`${name}:`) || text.startsWith(`${name}+`));
  const whole = alone ? alone.planner + text.slice(alone.name.length).replace(/^:/, ",") : text;
  return own.reduce((before, { name, path }) => before.replace(new RegExp(`=${name}(?![\\w-])`), `=${path}`), whole);
}

function command({ suite = "", planners = [], stages, episodes, pedestrians, seed, control }: Form, path = suite): string {
  const quoted = (text: string) => (/^[\w:=,.+/-]+$/.test(text) ? text : `'${text}'`);
  const option = (name: string, values: unknown) => [values].flat().filter((value) => value !== undefined).map((value) => ` --${name} ${quoted(String(value))}`).join("");
  return `agora bench ${quoted(path)}${option("planner", planners)}${option("stage", stages)}${option("episodes", episodes)}${option("pedestrians", pedestrians)}${option("seed", seed)}${control === false ? " --no-control" : ""}`;
}
