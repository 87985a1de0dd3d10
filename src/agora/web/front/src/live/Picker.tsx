// Chooses the next episode, its driver, and the episodes next to it.
import { useEffect, useState } from "preact/hooks";
import { useMe } from "../account/me";
import { RoleNotice } from "../account/RoleNotice";
import { useGet, wordsOf, type LiveForm } from "../api";
import { begin, FIRST, MOST } from "./start";
import type { Live, Planner, Policy, Suite } from "../schemas";

const HAND = ""; // instead of a planner's name
const NEXT = ["dwa", "social_force", "pure_pursuit", "orca"]; // planners proposed next to the first one

/** `ids`: of the live episodes that the page shows; they may end for the new ones. */
export function Picker({ live, ids = [] }: { live: Live | null; ids?: string[] }) {
  const suites = useGet<Suite[]>("/api/suites", true).data ?? [], planners = useGet<Planner[]>("/api/planners", true).data ?? [];
  const own = (useGet<Policy[]>("/api/policies").data ?? []).filter(({ run }) => run);
  const [form, setForm] = useState<LiveForm>(FIRST);
  const [others, setOthers] = useState<string[]>([]), [row, setRow] = useState(1);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false), { may } = useMe();
  useEffect(() => { if (live) setForm(live.form); }, [live?.id]);
  const put = (part: Partial<LiveForm>) => setForm((before) => ({ ...before, ...part }));
  const stages = suites.find(({ name }) => name === form.suite)?.stages ?? [], stage = stages.find(({ name }) => name === form.stage) ?? stages[0], count = stage?.count ?? 1;
  const rows = others.length || form.drive ? 1 : Math.min(row, count);
  const start = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    const first = { ...form, stage: stage?.name ?? "" };
    const more = Array.from({ length: rows - 1 }, (_, k) => ({ ...first, episode: (form.episode + k + 1) % count }));
    const beside = [...others.map((planner) => ({ ...first, planner, drive: false })), ...more];
    try { await begin(first, { beside, instead: ids }); } catch (problem) { setError(wordsOf(problem)); }
    setBusy(false);
  };
  const another = () => setOthers([...others, NEXT.find((name) => name !== form.planner && !others.includes(name)) ?? NEXT[0]]);
  return (
    <form class="card picker" onSubmit={start}>
      <h2>Watch another</h2>
      <label>Suite <select value={form.suite} onChange={(event) => put({ suite: event.currentTarget.value, stage: "", episode: 0 })}>
        {suites.map(({ name, missing }) => <option key={name} value={name} disabled={missing !== ""}>{name}</option>)}
      </select></label>
      <label>Stage <select value={stage?.name ?? ""} onChange={(event) => put({ stage: event.currentTarget.value, episode: 0 })}>
        {stages.map(({ name, count: many }) => <option key={name} value={name}>{name} · {many} {many === 1 ? "episode" : "episodes"}</option>)}
      </select></label>
      <label>Episode <input type="number" min={0} max={count - 1} value={form.episode} required onInput={(event) => put({ episode: event.currentTarget.valueAsNumber || 0 })} /></label>
      <label>Driver <select value={form.drive ? HAND : form.planner} onChange={({ currentTarget: { value } }) => put(value === HAND ? { drive: true } : { drive: false, planner: value })}>
        <option value={HAND}>you, by keyboard or gamepad</option>
        <Drivers planners={planners} own={own} />
      </select></label>
      {others.map((name, k) => (
        <label key={k}>Beside it <select aria-label={`Beside it, driver ${k + 2}`} value={name} onChange={({ currentTarget: { value } }) => setOthers(value ? others.map((one, at) => (at === k ? value : one)) : others.filter((_, at) => at !== k))}>
          <option value="">nobody</option>
          <Drivers planners={planners} own={own} />
        </select></label>
      ))}
      {others.length < MOST - 1 && rows === 1 && <p><button type="button" class="link" onClick={another}>Add another driver in the same episode</button></p>}
      {!others.length && !form.drive && count > 1 && (
        <label>Beside it <select value={String(rows)} onChange={(event) => setRow(Number(event.currentTarget.value))}>
          <option value="1">no other episode</option>
          {Array.from({ length: Math.min(MOST, count) - 1 }, (_, k) => <option key={k} value={String(k + 2)}>{k === 0 ? "the next episode" : `the next ${k + 1} episodes`}</option>)}
        </select></label>
      )}
      {error && <p class="bad" role="alert">{error}</p>}
      <RoleNotice role="run" />
      <button type="submit" class="first" disabled={busy || !may("run")}>Start</button>
    </form>
  );
}

function Drivers({ planners, own }: { planners: Planner[]; own: Policy[] }) {
  return (
    <>
      {own.length > 0 && <optgroup label="Your policies">{own.map(({ planner }) => <option key={planner} value={planner}>{planner}</option>)}</optgroup>}
      {([["planner", "Planners"], ["preset", "Presets"]] as const).map(([kind, words]) => (
        <optgroup key={kind} label={words}>
          {planners.filter((one) => one.kind === kind).map(({ name, missing }) => <option key={name} value={name} disabled={missing !== ""}>{name}</option>)}
        </optgroup>
      ))}
    </>
  );
}
