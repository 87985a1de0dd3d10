// A table for a paper, and the rows as files.
import { useEffect, useState } from "preact/hooks";
import type { Run } from "../api";

const FORMATS: [string, string][] = [["latex", "LaTeX"], ["markdown", "Markdown"], ["csv", "CSV"]];
const KINDS: [string, string][] = [["csv", "every episode as CSV"], ["parquet", "every episode as Parquet"]];

export function Files({ run }: { run: Run }) {
  const [format, setFormat] = useState("latex");
  const [text, setText] = useState("");
  const path = `/api/runs/${run.id}/table?format=${format}`;
  useEffect(() => {
    let gone = false;
    fetch(path).then(async (answer) => {
      const said = await answer.text();
      if (!gone) setText(answer.ok ? said : `There is no table: ${said}`);
    }, () => { if (!gone) setText("The server does not answer."); });
    return () => { gone = true; };
  }, [path, run.done]);
  return (
    <>
      <h2>Download</h2>
      <p class="files">{KINDS.map(([kind, words]) => <a key={kind} class="button" href={`/api/runs/${run.id}/files/${kind}`} download>{words}</a>)}</p>
      <h2>Table for a paper</h2>
      <div class="bar">
        <label>Format <select value={format} onChange={(event) => setFormat(event.currentTarget.value)}>{FORMATS.map(([name, words]) => <option key={name} value={name}>{words}</option>)}</select></label>
        <button type="button" onClick={() => navigator.clipboard.writeText(text)}>Copy</button>
      </div>
      <pre tabIndex={0} aria-label="Table">{text}</pre>
    </>
  );
}
