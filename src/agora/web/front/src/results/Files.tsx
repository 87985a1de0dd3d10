// A table for a paper, and the rows as files.
import { useState } from "preact/hooks";
import { useGet, type Run } from "../api";

const FORMATS: [string, string][] = [["latex", "LaTeX"], ["markdown", "Markdown"], ["csv", "CSV"]];
const KINDS: [string, string][] = [["csv", "every episode as CSV"], ["parquet", "every episode as Parquet"]];

export function Files({ run }: { run: Run }) {
  const [format, setFormat] = useState("latex");
  const [copied, setCopied] = useState("");
  const { data: text = "", error } = useGet<string>(`/api/runs/${run.id}/table?format=${format}&done=${run.done}`);
  return (
    <>
      <h2>Download</h2>
      <p class="files">{KINDS.map(([kind, words]) => <a key={kind} class="button" href={`/api/runs/${run.id}/files/${kind}`} download>{words}</a>)}</p>
      <h2>Table for a paper</h2>
      <div class="bar">
        <label>Format <select value={format} onChange={(event) => setFormat(event.currentTarget.value)}>{FORMATS.map(([name, words]) => <option key={name} value={name}>{words}</option>)}</select></label>
        {isSecureContext && <button type="button" onClick={() => navigator.clipboard.writeText(text).then(() => setCopied(text))}>Copy</button>}
        <span role="status" class="faint">{text && copied === text && "Copied."}</span>
      </div>
      {error && <p class="bad" role="alert">{error}</p>}
      <pre tabIndex={0} role="region" aria-label="Table">{text}</pre>
    </>
  );
}
