// One training: how far it is, its curves, its checkpoints, its policy.
import { useState } from "preact/hooks";
import { useGet, wordsOf, type Run } from "../api";
import { CardDetail } from "../lists/Policies";
import { begin } from "../live/start";
import { useNews } from "../news";
import { RunState } from "../run/RunState";
import { Chart } from "./Chart";
import { measures, plotOf, successPlot, titleOf } from "./series";
import { useCurves, useFresh } from "./server";
import { Seeds } from "./Seeds";
import type { Policy, TrainingProgress } from "../schemas";

export function TrainingDetail({ id }: { id: string }) {
  const news = useNews(), told = news.runs?.find((one) => one.id === id), found = useGet<Run>(told ? "" : `/api/runs/${id}`);
  const run = told ?? found.data;
  if (!run) return <><h1>Training</h1><p class={found.error ? "bad" : "faint"}>{found.error || "Loading the training run …"}</p><p><a href="/training">All trainings</a></p></>;
  return (
    <>
      <p class="faint"><a href="/training">Training</a> ›</p>
      <h1>{run.title}</h1>
      <div class="bar"><RunState run={run} /></div>
      <Body run={run} />
    </>
  );
}

function Body({ run }: { run: Run }) {
  const { data, error } = useFresh<TrainingProgress>(`/api/runs/${run.id}/training`, `${run.state} ${run.done} ${run.message}`);
  const { curves, error: torn, isRead } = useCurves(run.id, (data?.seeds ?? []).map(({ seed }) => seed), `${run.state} ${run.done} ${run.message}`);
  const [measure, setMeasure] = useState("");
  if (error && !data) return <p class="bad" role="alert">{error}</p>;
  if (!data) return <p class="faint">Loading the training run …</p>;
  const seeds = data.seeds.map(({ seed }) => seed), some = measures(curves), second = some.includes(measure) ? measure : some[0], success = successPlot(curves);
  return (
    <>
      {(torn || error) && <p class="bad" role="alert">{torn || error}</p>}
      {data.policy && <Use detail={data} planner={data.policy.planner} base={String(run.form["training"] ?? "")} running={run.state === "running"} />}
      <h2 class="next">Curves</h2>
      {second === undefined && !success.lines.length
        ? isRead && <p>The curves start after the first round. {run.state === "queued" && "The training run waits until the worker is free; agora web --workers 2 executes two runs at a time."}</p>
        : (
          <div class="charts">
            {success.lines.length > 0 && <Chart plot={success} seeds={seeds} />}
            {second !== undefined && (
              <div>
                <Chart plot={plotOf(curves, second)} seeds={seeds} />
                <p><label>The second chart shows <select value={second} onChange={(event) => setMeasure(event.currentTarget.value)}>{some.map((key) => <option key={key} value={key}>{titleOf(key)}</option>)}</select></label></p>
              </div>
            )}
          </div>
        )}
      <h2 class="next">Checkpoints and validations</h2>
      <Seeds detail={data} curves={curves} running={run.state === "running"} />
      {data.policy?.card && <section class="card next"><h2>Card</h2><CardDetail card={data.policy.card} /></section>}
      <h2 class="next">Files</h2>
      <p class="files">{data.files.map((name) => <a key={name} class="button" href={`/api/runs/${run.id}/training/${name}`} download>{name}</a>)}</p>
      <p class="faint">The same on the command line: <code class="command">{command(run, data)}</code></p>
    </>
  );
}

function Use({ detail: { training }, planner, base, running }: { detail: TrainingProgress; planner: string; base: string; running: boolean }) {
  const [error, setError] = useState("");
  const stage = training.stages[0] ?? "";
  const watch = () => begin({ suite: training.test, stage, episode: 0, planner, seed: null, drive: false }).catch((problem: unknown) => setError(wordsOf(problem)));
  const shipped = useGet<Policy[]>("/api/policies").data?.find(({ name, card }) => name === base && card);
  const compare = (other: string) => `/run?${new URLSearchParams([["suite", training.test], ["stages", stage], ["planner", planner], ["planner", other], ["episodes", "20"]])}`;
  return (
    <section class="card" aria-labelledby="use">
      <h2 id="use">{running ? "Use the best policy so far" : "Use the policy"}</h2>
      <p class="files">
        <button type="button" class="first" onClick={watch}>Watch it drive</button>
        <a class="button" href={compare("orca")}>Compare it with orca</a>
        {shipped && <a class="button" href={compare(shipped.planner)}>Compare it with Agora's {shipped.name}</a>}
      </p>
      <p class="faint">On {training.test}, {stage}. In all lists of planners, this policy is called <code>{planner}</code>.</p>
      {error && <p class="bad" role="alert">{error}</p>}
    </section>
  );
}

function command({ form }: Run, { training, file, seeds }: TrainingProgress): string {
  const changed = Object.keys((form["changes"] as object | undefined) ?? {}).length > 0, quoted = (text: string) => (/^[\w:=,.+/-]+$/.test(text) ? text : `'${text}'`);
  const minutes = typeof form["minutes"] === "number" ? ` --minutes ${form["minutes"]}` : "";
  return `agora train ${changed ? quoted(file) : quoted(String(form["training"] ?? training.name))}${changed ? "" : seeds.map(({ seed }) => ` --seed ${seed}`).join("")}${minutes}`;
}
