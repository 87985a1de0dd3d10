// One run: its report, its rows, its replays, its files.
import { useGet, type Run } from "../api";
import { ReportFrame } from "../ReportFrame";
import { useNews } from "../news";
import { addressOf } from "../run/plannerText";
import { RunState } from "../run/RunState";
import { RunSuiteFile } from "./RunSuiteFile";
import { Files } from "./Files";
import { Rows } from "./Rows";

const TABS: [string, string][] = [["", "Report"], ["rows", "Episodes"], ["files", "Tables and files"], ["suite", "Suite"]];

export function RunDetail({ id, tab: wanted, asked }: { id: string; tab: string; asked: URLSearchParams }) {
  const tab = TABS.some(([name]) => name === wanted) ? wanted : "";
  const news = useNews(), told = news.runs?.find((one) => one.id === id), found = useGet<Run>(told ? "" : `/api/runs/${id}`);
  const run = told ?? found.data;
  if (!run) return <><h1>Run</h1><p class={found.error ? "bad" : "faint"}>{found.error || "Loading the run …"}</p><p><a href="/results">All runs</a></p></>;
  return (
    <>
      <p class="faint"><a href="/results">Results</a> ›</p>
      <h1>{run.title}</h1>
      <div class="bar"><RunState run={run} /><a href={addressOf(run.form)}>Start a similar run</a></div>
      {run.done > 0 ? (
        <>
          <nav class="bar tabs" aria-label="Parts of the results">
            {TABS.map(([name, words]) => <a key={name} href={`/results/${id}${name && `/${name}`}`} aria-current={name === tab ? "page" : undefined}>{words}</a>)}
          </nav>
          {tab === "" && <Report run={run} />}
          {tab === "rows" && <Rows run={run} asked={asked} />}
          {tab === "files" && <Files run={run} />}
          {tab === "suite" && <RunSuiteFile run={run} />}
        </>
      ) : <Waiting run={run} />}
    </>
  );
}

function Report({ run }: { run: Run }) {
  if (run.state === "running") return <p>The report is created at the end of the run. <a href={`/results/${run.id}/rows`}>The episodes so far</a> are available.</p>;
  return <ReportFrame key={run.state} src={`/api/runs/${run.id}/report`} title={`Report of ${run.title}`} />;
}

function Waiting({ run }: { run: Run }) {
  const words = run.state === "queued" || run.state === "running"
    ? "Results are shown as soon as the first episodes have ended. The first run on a machine takes longer, because its kernels are compiled."
    : "There are no results: no episode has ended.";
  return <p>{words} Meanwhile you can <a href="/">watch an episode live</a>.</p>;
}
