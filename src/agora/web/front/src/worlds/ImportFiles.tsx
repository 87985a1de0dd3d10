// Imports uploaded files and reports the result.
import { useState } from "preact/hooks";
import { useMe } from "../account/me";
import { Problem, wordsOf } from "../api";
import type { ImportReport, ReportLine } from "../schemas";

const MOST = 32 << 20; // bytes of all files together

/** Send the contents of files to the server. @throws Problem */
export async function openFiles(files: File[], { name = "", world = "" } = {}): Promise<ImportReport> {
  if (files.reduce((sum, { size }) => sum + size, 0) > MOST) throw new Problem("Together, these files are larger than 32 MiB.");
  const asked = new URLSearchParams({ name, world });
  for (const file of files) { asked.append("file", file.name); asked.append("size", String(file.size)); }
  const answer = await fetch(`/api/uploads/open?${asked}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: new Blob(files) }).catch(() => { throw new Problem("The server does not answer, or a file cannot be read. Nothing was saved."); });
  const said = (await answer.json().catch(() => ({}))) as ImportReport & { error?: string };
  if (!answer.ok) throw new Problem(said.error ?? `The server answered ${answer.status}; nothing was kept.`);
  return said;
}

export function Open({ world = "", opened }: { world?: string; opened(account: ImportReport): void }) {
  const [account, setAccount] = useState<ImportReport | null>(null), [name, setName] = useState(""), [error, setError] = useState(""), [busy, setBusy] = useState(false), [over, setOver] = useState(false), { may } = useMe();
  const take = async (files: File[]) => {
    setOver(false);
    if (!files.length || busy || !may("run")) return;
    setBusy(true);
    setError("");
    setAccount(null);
    try {
      const found = await openFiles(files, { name: name.trim(), world });
      setAccount(found);
      opened(found);
    } catch (problem) { setError(wordsOf(problem)); }
    setBusy(false);
  };
  return (
    <section class={over ? "card drop over" : "card drop"} aria-labelledby="open" onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={(event) => { event.preventDefault(); void take([...event.dataTransfer?.files ?? []]); }}>
      <h2 id="open">Open files</h2>
      <p class="faint"><small>Choose or drop a scenario (.json, of Agora, Arena or arena-tools), a map_server map (.yaml and its image, together), or a zipped world folder (.zip), up to 32 MiB.{world && ` A scenario that does not specify a world is opened in ${world}.`}</small></p>
      <label class="row">Files <input type="file" multiple disabled={busy || !may("run")} accept=".json,.yaml,.yml,.zip,.png,.pgm,.bmp,.gif,.jpg" onChange={({ currentTarget }) => { const files = [...currentTarget.files ?? []]; currentTarget.value = ""; void take(files); }} /></label>
      <label class="row">Its world <input type="text" value={name} maxLength={80} placeholder="same as the file" onInput={(event) => setName(event.currentTarget.value)} /></label>
      {busy && <p class="faint" role="status">Reading …</p>}
      {error && <p class="bad" role="alert">{error}</p>}
      {account && <Told account={account} />}
    </section>
  );
}

function Told({ account: { world, scenarios, understood, dropped } }: { account: ImportReport }) {
  return (
    <div role="status">
      <p class="good">Kept: {world && <a href={`/worlds/${encodeURIComponent(world)}`}>world {world}</a>}{scenarios.map((one) => <span key={one}> <a href={`/scenarios/${encodeURIComponent(one)}`}>scenario {one}</a></span>)}</p>
      <Lines title="Left out" lines={dropped} open />
      <Lines title="Understood" lines={understood} />
    </div>
  );
}

function Lines({ title, lines, open = false }: { title: string; lines: ReportLine[]; open?: boolean }) {
  if (!lines.length) return null;
  return (
    <details open={open}>
      <summary>{title}: {lines.length}</summary>
      <ul class="plain lines">{lines.map(({ file, key, words }, k) => <li key={k}><code>{file}{key && `: ${key}`}</code> {words}</li>)}</ul>
    </details>
  );
}
