// The suite of a run as it was when the run was asked for.
import { useGet, type Run } from "../api";
import type { RunSuite } from "../schemas";


const NOW = { "": "", changed: "It has been changed since; the run used the version shown here.", gone: "It has been removed since; the run used the version shown here." };

export function RunSuiteFile({ run }: { run: Run }) {
  const { data: suite, error } = useGet<RunSuite>(`/api/runs/${run.id}/suite`);
  if (!suite) return <p class={error ? "bad" : "faint"} role="status">{error || "Reading the suite …"}</p>;
  return (
    <>
      <h2>{suite.name}</h2>
      {NOW[suite.now] && <p>{NOW[suite.now]}</p>}
      <p class="faint">On the command line: <code>agora bench {suite.path}</code></p>
      <pre tabIndex={0} role="region" aria-label="File of the suite">{suite.text}</pre>
    </>
  );
}
