// Requests a training: its name, changes, seeds, time.
import { useState } from "preact/hooks";
import { post, useGet, wordsOf, type Run } from "../api";
import { news } from "../news";
import { go } from "../router";
import { Paragraphs } from "../Prose";
import { Changes, changesOf, type Values } from "./Changes";
import type { TrainingEntry, TrainingFields } from "../schemas";

export function NewTraining({ asked }: { asked: URLSearchParams }) {
  const { data, error } = useGet<TrainingEntry[]>("/api/trainings", true);
  const [wanted, setWanted] = useState(asked.get("training") ?? "");
  const [values, setValues] = useState<Values>({});
  const [opened, setOpened] = useState(false);
  const [seeds, setSeeds] = useState(""), [minutes, setMinutes] = useState(""), [title, setTitle] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const sorted = [...(data ?? [])].sort((a, b) => (a.took?.seconds ?? Infinity) - (b.took?.seconds ?? Infinity));
  const chosen = sorted.find(({ name }) => name === wanted) ?? sorted.find(({ missing }) => !missing) ?? sorted[0];
  const fields = useGet<TrainingFields>(opened && chosen && !chosen.missing ? `/api/trainings/${encodeURIComponent(chosen.name)}` : "", true);
  const numbers = seeds.split(/[\s,]+/).filter(Boolean).map(Number), changes = changesOf(fields.data?.fields ?? [], values), changed = Object.keys(changes).length;
  const start = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      const run = await post<Run>("/api/trainings", {
        training: chosen?.name, ...(changed ? { changes } : {}), ...(numbers.length ? { seeds: numbers } : {}), ...(minutes ? { minutes: Number(minutes) } : {}), ...(title.trim() ? { title: title.trim() } : {}),
      });
      news.put(run);
      go(`/training/${run.id}`);
    } catch (wrong) {
      setProblem(wordsOf(wrong));
      setBusy(false);
    }
  };
  if (error) return <p class="bad" role="alert">{error}</p>;
  if (!chosen) return <p class="faint">Reading the trainings …</p>;
  const command = `agora train ${chosen.name}${numbers.map((one) => ` --seed ${one}`).join("")}${minutes && ` --minutes ${minutes}`}`;
  return (
    <form class="run" onSubmit={start}>
      <fieldset>
        <legend>1. Training</legend>
        <label class="find">Training <select value={chosen.name} onChange={(event) => { setWanted(event.currentTarget.value); setValues({}); }}>
          {sorted.map((one) => <option key={one.name} value={one.name}>{one.name}{one.took ? ` · ${duration(one.took.seconds)}` : ""}</option>)}
        </select></label>
        {chosen.missing && <p class="bad" role="alert">This training cannot run on this server: {chosen.missing}</p>}
        <About of={chosen} />
      </fieldset>
      <fieldset>
        <legend>2. Changes</legend>
        <details open={opened} onToggle={(event) => setOpened(event.currentTarget.open)}>
          <summary>{changed ? `${changed} ${changed === 1 ? "field is" : "fields are"} changed` : "No changes to network, rewards, steps or other fields"}</summary>
          {fields.error && <p class="bad" role="alert">{fields.error}</p>}
          {fields.data ? <Changes fields={fields.data.fields} values={values} put={setValues} /> : !fields.error && <p class="faint">Loading the fields; the first time, this takes a few seconds …</p>}
        </details>
      </fieldset>
      <fieldset>
        <legend>3. Seeds and time limit</legend>
        <div class="pair">
          <label>Seeds <input type="text" inputMode="numeric" pattern="[\d\s,]*" value={seeds} placeholder="1" onInput={(event) => setSeeds(event.currentTarget.value)} /></label>
          <label>Minutes per seed <input type="number" min={0} step="any" value={minutes} placeholder="no limit" onInput={(event) => setMinutes(event.currentTarget.value)} /></label>
          <label>Title <input type="text" maxLength={200} value={title} placeholder={`training of ${chosen.name}`} onInput={(event) => setTitle(event.currentTarget.value)} /></label>
        </div>
        <p class="faint">Each seed is trained separately. If training reaches its time limit, the policy is tested, and training can continue later.</p>
      </fieldset>
      {problem && <p class="bad said" role="alert">{problem}</p>}
      <div class="start"><button type="submit" class="first" disabled={busy || chosen.missing !== ""}>Start the training</button></div>
      <p class="faint">{changed ? "The page of the training run shows its file, and the command that runs it in a terminal." : <>The same on the command line: <code class="command">{command}</code></>}</p>
    </form>
  );
}

function About({ of }: { of: TrainingEntry }) {
  const best = of.results[0];
  return (
    <>
      <Paragraphs text={of.method} />
      <dl>
        <dt>Trainer</dt><dd>{of.trainer}</dd>
        <dt>Trained on</dt><dd>{of.suite}, {of.stage}</dd>
        <dt>Tested on</dt><dd>{of.test}: {of.stages.join(", ")}</dd>
        {of.took && <><dt>Full run</dt><dd>{of.took.steps.toLocaleString("en")} steps, {duration(of.took.seconds)} on {of.took.cpu || "its machine"}</dd></>}
        {best && <><dt>Reached</dt><dd>{((100 * best.reached) / best.episodes).toFixed(1)} % of the goals of {best.stage} (<a href={`/policies/${encodeURIComponent(of.name)}`}>card</a>)</dd></>}
        <dt>Planner</dt><dd><a href={`/planners/${encodeURIComponent(of.planner.split(/[:(]/)[0] ?? "")}`}>{of.planner}</a></dd>
      </dl>
    </>
  );
}

const duration = (seconds: number) => (seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`);
