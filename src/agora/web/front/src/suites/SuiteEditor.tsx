// The page on which a suite is edited.
import { useEffect, useState } from "preact/hooks";
import { get, post, useGet, wordsOf, type Kinds } from "../api";
import { EditorHead } from "../own/EditorHead";
import { useEditing } from "../own/editing";
import { SuiteContext, type SuiteSurroundings } from "./context";
import { PreviewPicture } from "./PreviewPicture";
import { nameOfStage, placeIn, withStages, type Content, type Plain } from "./model";
import { Play } from "./Play";
import { SUITE, type Kept, type Records } from "./server";
import { StageForm } from "./StageForm";
import { StageStrip } from "./StageStrip";
import { FRESH } from "./Suites";
import { RecordFields } from "./Values";
import type { Robot, ScenarioEntry, Suite, SuiteCheck, SuiteParts, WorldEntry } from "../schemas";

const LOOKS = 250; // ms after an edit at which the server looks at it

export function SuitePage({ name }: { name: string }) {
  const [kept, setKept] = useState<Kept | null>(null), [error, setError] = useState("");
  useEffect(() => {
    get<Kept>(`${SUITE.api}/${encodeURIComponent(name)}`).then(setKept, (problem: unknown) => setError(wordsOf(problem)));
  }, [name]);
  const parts = useGet<SuiteParts>("/api/suite-parts", true), kinds = useGet<Kinds>("/api/kinds", true), robots = useGet<Robot[]>("/api/robots", true);
  const worlds = useGet<WorldEntry[]>("/api/worlds"), scenarios = useGet<ScenarioEntry[]>("/api/scenarios");
  const trouble = error || parts.error || kinds.error || robots.error || worlds.error || scenarios.error;
  if (trouble) return <><h1>{name}</h1><p class="bad" role="alert">{trouble}</p><p><a href="/suites">All suites</a></p></>;
  if (!kept || !parts.data || !kinds.data || !robots.data || !worlds.data || !scenarios.data) return <><h1>{name}</h1><p class="faint" role="status">Opening …</p></>;
  if (!SUITE.is(kept.content)) return <><h1>{name}</h1><p class="bad" role="alert">{kept.problems.map(({ key, text }) => `${key}: ${text}`).join("; ")}</p><pre>{kept.text}</pre><p><a href="/suites">All suites</a></p></>;
  const around = {
    records: parts.data.records, kinds: kinds.data, robots: robots.data.map((one) => one.name), scenarios: scenarios.data,
    worlds: worlds.data.filter(({ missing }) => missing === "").map((one) => one.name),
  };
  return <Editor kept={kept} around={around} />;
}

function Editor({ kept, around }: { kept: Kept; around: Omit<SuiteSurroundings, "wrong"> }) {
  const editing = useEditing(SUITE, kept), { now, put, act, say } = editing;
  const [checked, setChecked] = useState<SuiteCheck>(kept), [chosen, setChosen] = useState(0), [episode, setEpisode] = useState(0);
  const at = Math.min(chosen, now.stages.length - 1), stage = now.stages[at] as Plain | undefined;
  useEffect(() => {
    let gone = false;
    const timer = setTimeout(() => {
      post<SuiteCheck>("/api/suites/check", { name: kept.name, content: now }).then((found) => { if (!gone) setChecked(found); }, (problem: unknown) => { if (!gone) say(wordsOf(problem)); });
    }, LOOKS);
    return () => { gone = true; clearTimeout(timer); };
  }, [now]);
  const select = (to: number) => { setChosen(to); setEpisode(0); act({ do: "pause" }); };
  const change = (stages: Plain[], to: number) => { put(withStages(now, stages)); setChosen(to); setEpisode(0); };
  const wrong = new Map<string, string[]>();
  for (const { key, text } of checked.problems) wrong.set(key, [...(wrong.get(key) ?? []), text]);
  const bad = new Set(checked.problems.map(({ key }) => placeIn(now, key).stage)), path = `stages[${at}]`;
  const show = (key: string) => {
    const to = placeIn(now, key).stage;
    if (to >= 0) setChosen(to);
    setTimeout(() => find(key));
  };
  return (
    <SuiteContext.Provider value={{ ...around, wrong }}>
      <div class="suite-head"><EditorHead editing={editing} /></div>
      <StageStrip stages={now.stages} at={at} wrong={bad} counts={new Map(checked.stages.map(({ name, count }) => [name, count]))} select={select} put={change} fresh={() => FRESH} />
      <div class="columns suite-editor">
        <div>
          {stage && <StageForm key={at} stage={stage} path={path} put={(next, key) => put(withStages(now, now.stages.map((one, k) => (k === at ? next : one))), `${path}.${key}`)} />}
          <About content={now} put={put} />
          <File name={kept.name} text={checked.text} />
        </div>
        <div class="editor-side">
          {stage && <PreviewPicture content={now} stage={stage} episode={episode} put={setEpisode} />}
          <Problems content={now} checked={checked} show={show} />
          {stage && <Play name={kept.name} stage={nameOfStage(stage)} episode={episode} ready={!checked.problems.length} save={editing.save} />}
        </div>
      </div>
    </SuiteContext.Provider>
  );
}

/** Bring the control of a key before the eyes, or that of the nearest key around it. */
function find(key: string): void {
  for (let path = key; path; path = path.replace(/(\.\w+|\[\d+\]|^\w+)$/, "")) {
    const found = document.getElementById(path);
    if (!found) continue;
    for (let around = found.closest("details"); around; around = around.parentElement?.closest("details") ?? null) around.open = true;
    found.focus();
    found.scrollIntoView({ block: "center" });
    return;
  }
}

function Problems({ content, checked: { problems }, show }: { content: Content; checked: SuiteCheck; show(key: string): void }) {
  return (
    <section class={problems.length ? "card problems" : "card"} aria-labelledby="problems" aria-live="polite">
      <h2 id="problems">{problems.length ? `${problems.length} ${problems.length === 1 ? "problem" : "problems"}` : "Problems"}</h2>
      {problems.length === 0 ? <p class="good">None: the suite can be run.</p> : (
        <ul>{problems.map(({ key, text }, k) => <li key={k}><button type="button" class="link" onClick={() => show(key)}>{key && <b>{placeIn(content, key).words}: </b>}{text}</button></li>)}</ul>
      )}
    </section>
  );
}

/** The keys of the suite as a whole. */
function About({ content, put }: { content: Content; put(content: Content, tag: string): void }) {
  const description = typeof content.description === "string" ? content.description : "";
  return (
    <SuiteContext.Consumer>
      {({ records }) => {
        const fields = records.Suite.fields.filter(({ name }) => !["name", "stages", "description"].includes(name));
        return (
          <fieldset>
            <legend>The whole suite</legend>
            <label class="find">Description <textarea rows={3} value={description} onInput={(event) => put({ ...content, description: event.currentTarget.value }, "description")} /></label>
            <SuiteFields fields={fields} content={content} put={put} />
          </fieldset>
        );
      }}
    </SuiteContext.Consumer>
  );
}

function SuiteFields({ fields, content, put }: { fields: Records[string]["fields"]; content: Content; put(content: Content, tag: string): void }) {
  return <div class="suite-fields"><RecordFields fields={fields} value={content} path="" owner="Suite" known={["name", "version", "seed", "description", "split", "stages"]} put={(next, key) => put(next as Content, key)} /></div>;
}

function File({ name, text }: { name: string; text: string }) {
  const own = (useGet<Suite[]>("/api/suites").data ?? []).find((one) => one.name === `own/${name}`);
  return (
    <details class="card">
      <summary>The file</summary>
      <pre tabIndex={0}>{text}</pre>
      <p class="faint">Comments in a file that you open stay with the lines that they belong to; in a file with anchors and aliases, the first change removes them.</p>
      {own?.path && <p class="faint">On the command line: <code class="command">agora bench {own.path} --planner orca --planner dwa</code></p>}
    </details>
  );
}
