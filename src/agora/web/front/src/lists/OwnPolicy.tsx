// An uploaded policy: its upload, and the contents of its file.
import { useState } from "preact/hooks";
import { useMe } from "../account/me";
import { forget, remove, wordsOf } from "../api";
import { go } from "../router";
import { nameOf } from "../own/server";
import type { Policy } from "../schemas";

const MOST = 32 << 20; // bytes of a file
const OWN = "own/";

export function Upload({ changed }: { changed(): void }) {
  const [name, setName] = useState(""), [error, setError] = useState(""), [busy, setBusy] = useState(false), { may } = useMe();
  const take = async (file: File | undefined) => {
    if (!file) return;
    setError("");
    if (file.size > MOST) { setError(`${file.name} is larger than 32 MiB.`); return; }
    setBusy(true);
    const called = name.trim() || nameOf(file.name.replace(/\.[a-z0-9]+$/i, ""), "policy");
    try {
      const answer = await fetch(`/api/uploads/policies/${encodeURIComponent(called)}`, { method: "PUT", headers: { "Content-Type": "application/octet-stream" }, body: file });
      const said = (await answer.json().catch(() => ({}))) as Policy & { error?: string };
      if (answer.ok) { forget("/api/planners"); changed(); go(`/policies/${encodeURIComponent(said.name)}`); } else setError(said.error ?? `The server answered ${answer.status}; nothing was saved.`);
    } catch { setError("The server does not answer; nothing was saved."); }
    setBusy(false);
  };
  return (
    <details class="card new">
      <summary>Upload your own policy</summary>
      <p class="faint"><small>A .safetensors file as written by <code>agora train</code> and <code>Policy.save</code>. PyTorch files (.pt, .zip), pickles, Keras files and ONNX files are not opened; the manual shows how to convert them.</small></p>
      <label class="row">Name <input type="text" value={name} maxLength={80} placeholder="same as the file" onInput={(event) => setName(event.currentTarget.value)} /></label>
      <label class="row">File <input type="file" disabled={busy || !may("run")} onChange={({ currentTarget }) => { const file = currentTarget.files?.[0]; void take(file); currentTarget.value = ""; }} /></label>
      {error && <p class="bad" role="alert">{error}</p>}
    </details>
  );
}

export function OwnPolicy({ policy: { name, wrong, words, label, needs, about, weights, size, period }, changed }: { policy: Policy; changed(): void }) {
  const [error, setError] = useState(""), short = encodeURIComponent(name.slice(OWN.length));
  const drop = async () => {
    if (!confirm(`Remove the policy ${name} permanently? Runs that use it keep a copy.`)) return;
    try { await remove(`/api/own-policies/${short}`); forget("/api/planners"); changed(); go("/policies"); } catch (problem) { setError(wordsOf(problem)); }
  };
  return (
    <>
      {wrong ? <p class="bad">{wrong}</p> : <p>{words}. On the pages <em>Run</em> and <em>Live</em> it is the planner <code>{name}</code>.</p>}
      {error && <p class="bad" role="alert">{error}</p>}
      <p class="files">{!wrong && <a class="button first" href={`/run?planner=${encodeURIComponent(name)}`}>Run it</a>}<a class="button" href={`/api/own-policies/${short}/file`} download={`${name.slice(OWN.length)}.safetensors`}>Download</a><button type="button" onClick={() => void drop()}>Remove</button></p>
      <dl>
        <dt>Size</dt><dd>{((size ?? 0) / 1024).toFixed(0)} KiB</dd>
        {label && <><dt>Claim</dt><dd>{label}</dd></>}
        {needs && needs.length > 0 && <><dt>Needs</dt><dd>{needs.join(", ")}</dd></>}
        {period ? <><dt>Decides every</dt><dd>{period} s</dd></> : null}
        {Object.entries(about ?? {}).filter(([key]) => key !== "label").map(([key, value]) => <><dt key={key}>{key}</dt><dd>{value}</dd></>)}
      </dl>
      {weights && <details><summary>Weights</summary><dl>{Object.entries(weights).map(([key, shape]) => <><dt key={key}><code>{key}</code></dt><dd>{shape.join(" × ")}</dd></>)}</dl></details>}
    </>
  );
}
