// A planner uploaded as code: its upload, if the administrator allows code, and the actions of its owner.
import { useState } from "preact/hooks";
import { useMe } from "../account/me";
import { forget, remove, useGet, wordsOf } from "../api";
import { go } from "../router";
import { nameOf } from "../own/server";
import type { About, Planner } from "../schemas";

const MOST = 256 << 10; // bytes of a file
const OWN = "own/";

export function Bring({ changed }: { changed(): void }) {
  const [name, setName] = useState(""), [error, setError] = useState(""), [busy, setBusy] = useState(false), { may } = useMe();
  const refused = useGet<About>("/api/about").data?.code;
  const take = async (file: File) => {
    setError("");
    setBusy(true);
    const said = await send(name.trim() || nameOf(file.name.replace(/\.[a-z0-9]+$/i, ""), "planner"), file);
    if ("name" in said) { forget("/api/planners"); changed(); go(`/planners/${encodeURIComponent(said.name)}`); } else setError(said.error);
    setBusy(false);
  };
  return (
    <details class="card new">
      <summary>Upload your own planner</summary>
      {refused === undefined ? <p class="faint">Checking whether code is allowed …</p> : refused ? <p class="notice-line">Not available: {refused}.</p> : <>
        <p class="notice-line">This runs your code on the server. Each planner runs in its own process, with 2 GiB of memory and 5 s per call. The process cannot start other processes, open connections or write files, and can only read the files of Python and Agora.</p>
        <p class="faint"><small>A .py file with one planner class: a frozen dataclass with <code>declares</code>, and <code>plan</code> or <code>act</code>; every parameter has a default. The manual shows one under <em>Add a planner</em>.</small></p>
        <label class="row">Name <input type="text" value={name} maxLength={80} placeholder="same as the file" onInput={(event) => setName(event.currentTarget.value)} /></label>
        <FileOf disabled={busy || !may("run")} take={take} />
        {busy && <p class="faint" role="status">Reading the file in a separate process …</p>}
      </>}
      {error && <p class="bad" role="alert">{error}</p>}
    </details>
  );
}

/** Next to a user's planner: the actions of its owner. */
export function Code({ planner: { name }, changed }: { planner: Planner; changed(): void }) {
  const [error, setError] = useState(""), [busy, setBusy] = useState(false), { may } = useMe(), short = name.slice(OWN.length), path = `/api/own-planners/${encodeURIComponent(short)}`;
  const drop = async () => {
    if (!confirm(`Remove the planner ${name} permanently? Runs that use it keep a copy.`)) return;
    try { await remove(path); forget("/api/planners"); changed(); go("/planners"); } catch (problem) { setError(wordsOf(problem)); }
  };
  const replace = async (file: File) => {
    setError("");
    setBusy(true);
    const said = await send(short, file, "?instead=true");
    if ("name" in said) { forget("/api/planners"); forget(`/api/kinds/planners/${encodeURIComponent(`own:${short}`)}`); changed(); } else setError(said.error);
    setBusy(false);
  };
  return (
    <>
      <p class="faint"><small>Uploaded code. It runs in a confined process. If it attempts something that is not allowed, the row of the episode says so.</small></p>
      <p class="files"><a class="button" href={`${path}/file`} download={`${short}.py`}>Download</a><button type="button" disabled={!may("run")} onClick={() => void drop()}>Remove</button></p>
      <details><summary>Replace it with another file</summary><FileOf disabled={busy || !may("run")} take={replace} /></details>
      {error && <p class="bad" role="alert">{error}</p>}
    </>
  );
}

function FileOf({ disabled, take }: { disabled: boolean; take(file: File): Promise<void> }) {
  return <label class="row">File <input type="file" accept=".py,text/x-python" disabled={disabled} onChange={({ currentTarget }) => { const file = currentTarget.files?.[0]; if (file) void take(file); currentTarget.value = ""; }} /></label>;
}

async function send(name: string, file: File, query = ""): Promise<{ name: string } | { error: string }> {
  if (file.size > MOST) return { error: `${file.name} is larger than 256 KiB.` };
  try {
    const answer = await fetch(`/api/uploads/planners/${encodeURIComponent(name)}${query}`, { method: "PUT", headers: { "Content-Type": "application/octet-stream" }, body: file });
    const said = (await answer.json().catch(() => ({}))) as { name?: string; error?: string };
    return answer.ok && said.name ? { name: said.name } : { error: said.error ?? `The server answered ${answer.status}; nothing was saved.` };
  } catch { return { error: "The server does not answer; nothing was saved." }; }
}
