// The comparison of some runs.
import { Frame } from "../Frame";

export function Compare({ runs }: { runs: string }) {
  return (
    <>
      <p class="faint"><a href="/results">Results</a> ›</p>
      <h1>Comparison</h1>
      {runs.includes(",") ? <Frame src={`/api/compare?run=${encodeURIComponent(runs)}`} title="Comparison of runs" /> : <p>Tick two runs under <a href="/results">Results</a> to compare them.</p>}
    </>
  );
}
