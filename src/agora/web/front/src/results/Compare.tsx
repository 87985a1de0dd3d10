// The comparison of some runs.
import { ReportFrame } from "../ReportFrame";

export function Compare({ runs }: { runs: string }) {
  return (
    <>
      <p class="faint"><a href="/results">Results</a> ›</p>
      <h1>Comparison</h1>
      {runs.includes(",") ? <ReportFrame src={`/api/compare?run=${encodeURIComponent(runs)}`} title="Comparison of runs" /> : <p>Select two runs under <a href="/results">Results</a> to compare them.</p>}
    </>
  );
}
