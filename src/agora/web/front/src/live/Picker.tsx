// Which episode to watch next, and who drives.
import { useEffect, useState } from "preact/hooks";
import { useMe } from "../account/me";
import { Needs } from "../account/Needs";
import { useGet, wordsOf, type Live, type LiveForm, type Planner, type Policy, type Suite } from "../api";
import { begin, FIRST } from "./begin";

const HAND = ""; // instead of a planner's name

export function Picker({ live }: { live: Live | null }) {
  const suites = useGet<Suite[]>("/api/suites", true).data ?? [], planners = useGet<Planner[]>("/api/planners", true).data ?? [];
  const own = (useGet<Policy[]>("/api/policies").data ?? []).filter(({ run }) => run);
  const [form, setForm] = useState<LiveForm>(FIRST);
  const [beside, setBeside] = useState("");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false), { may } = useMe();
  useEffect(() => { if (live) setForm(live.form); }, [live?.id]);
  const put = (part: Partial<LiveForm>) => setForm((before) => ({ ...before, ...part }));
  const stages = suites.find(({ name }) => name === form.suite)?.stages ?? [], stage = stages.find(({ name }) => name === form.stage) ?? stages[0];
  const start = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    try { await begin({ ...form, stage: stage?.name ?? "" }, { beside }); } catch (problem) { setError(wordsOf(problem)); }
    setBusy(false);
  };
  return (
    <form class="card picker" onSubmit={start}>
      <h2>Watch another</h2>
      <label>Suite <select value={form.suite} onChange={(event) => put({ suite: event.currentTarget.value, stage: "", episode: 0 })}>
        {suites.map(({ name, missing }) => <option key={name} value={name} disabled={missing !== ""}>{name}</option>)}
      </select></label>
      <label>Stage <select value={stage?.name ?? ""} onChange={(event) => put({ stage: event.currentTarget.value, episode: 0 })}>
        {stages.map(({ name, count }) => <option key={name} value={name}>{name} · {count} {count === 1 ? "episode" : "episodes"}</option>)}
      </select></label>
      <label>Episode <input type="number" min={0} max={(stage?.count ?? 1) - 1} value={form.episode} required onInput={(event) => put({ episode: event.currentTarget.valueAsNumber || 0 })} /></label>
      <label>Driver <select value={form.drive ? HAND : form.planner} onChange={({ currentTarget: { value } }) => put(value === HAND ? { drive: true } : { drive: false, planner: value })}>
        <option value={HAND}>you, by keyboard or gamepad</option>
        <Drivers planners={planners} own={own} />
      </select></label>
      <label>Beside it <select value={beside} onChange={(event) => setBeside(event.currentTarget.value)}>
        <option value="">nothing</option>
        <Drivers planners={planners} own={own} />
      </select></label>
      {error && <p class="bad" role="alert">{error}</p>}
      <Needs role="run" />
      <button type="submit" class="first" disabled={busy || !may("run")}>Start</button>
    </form>
  );
}

function Drivers({ planners, own }: { planners: Planner[]; own: Policy[] }) {
  return (
    <>
      {own.length > 0 && <optgroup label="Policies of yours">{own.map(({ planner }) => <option key={planner} value={planner}>{planner}</option>)}</optgroup>}
      {([["planner", "Planners"], ["preset", "Presets"]] as const).map(([kind, words]) => (
        <optgroup key={kind} label={words}>
          {planners.filter((one) => one.kind === kind).map(({ name, missing }) => <option key={name} value={name} disabled={missing !== ""}>{name}</option>)}
        </optgroup>
      ))}
    </>
  );
}
