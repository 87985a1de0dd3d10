// Planners to run: a list to tick, and the parameters of those that are ticked.
import { useState } from "preact/hooks";
import { isCode } from "../api";
import { Prose } from "../Prose";
import { shown as of } from "./FieldInput";
import { Parameters } from "./Parameters";
import { parsePlanner, textOf, type Chosen } from "./plannerText";
import type { Planner, Policy } from "../schemas";

const SOME = 6; // parameters of a preset that are shown

type Props = { planners: Planner[]; own: Policy[]; chosen: Chosen[]; put(chosen: Chosen[]): void };

export function PlannerPicker({ planners, own, chosen, put }: Props) {
  const [find, setFind] = useState("");
  const wanted = find.trim().toLowerCase(), is = (name: string) => chosen.some((one) => one.name === name && !isOwn(one));
  const shown = planners.filter(({ name, planner, summary, changes }) => `${name} ${planner} ${summary} ${Object.keys(changes).join(" ")}`.toLowerCase().includes(wanted));
  const toggle = (name: string) => put(is(name) ? chosen.filter((one) => one.name !== name || isOwn(one)) : [...chosen, { name, values: {} }]);
  const mine = own.filter(({ planner }) => planner.toLowerCase().includes(wanted)), has = ({ name }: Policy) => chosen.some((one) => one.values["file"] === name);
  const toggleOwn = (policy: Policy) => put(has(policy) ? chosen.filter((one) => one.values["file"] !== policy.name) : [...chosen, parsePlanner(policy.planner)]);
  return (
    <fieldset>
      <legend>2. Planners</legend>
      <label class="find">Find a planner <input type="search" value={find} placeholder="name or words" onInput={(event) => setFind(event.currentTarget.value)} /></label>
      <div class="ticks" tabIndex={0} role="group" aria-label="Planners to select">
        {mine.map((one) => (
          <label key={one.name}>
            <input type="checkbox" checked={has(one)} onChange={() => toggleOwn(one)} />
            <span><b>{one.name}</b> <i class="tag">yours</i> <small>a policy trained on this server</small></span>
          </label>
        ))}
        {shown.map((one) => (
          <label key={one.name} class={one.missing ? "off" : ""}>
            <input type="checkbox" checked={is(one.name)} disabled={one.missing !== ""} onChange={() => toggle(one.name)} />
            <span><b>{one.name}</b> {one.kind === "preset" && <i class="tag">preset of {one.planner}</i>} {one.learned && <i class="tag">learned</i>} {isCode(one) && <i class="tag">your code</i>}
              <small>{one.missing ? `cannot run on this server: ${one.missing}` : <Prose text={one.summary} />}</small>{!one.missing && <small><Changes planner={one} /></small>}</span>
          </label>
        ))}
        {!shown.length && !mine.length && <p class="faint">No planner has “{find}” in its name or text.</p>}
      </div>
      {chosen.map((one, k) => (
        <div key={`${one.name} ${k}`} class="chosen">
          <button type="button" class="close" aria-label={`Remove ${textOf(one)}`} onClick={() => put(chosen.filter((other) => other !== one))}>×</button>
          <details>
            <summary><code>{textOf(one)}</code> <small>parameters</small></summary>
            <Parameters planner={planners.find(({ name }) => name === one.name)?.planner ?? one.name} chosen={one}
              put={(values) => put(chosen.map((other) => (other === one ? { ...other, values } : other)))} />
          </details>
        </div>
      ))}
    </fieldset>
  );
}

/** The settings in which a preset differs from its planner. */
function Changes({ planner: { kind, planner, changes } }: { planner: Planner }) {
  const all = Object.entries(changes).map(([name, value]) => `${name} ${of(value)}`);
  if (kind !== "preset") return null;
  return <>{all.length ? `differs from ${planner}: ${all.slice(0, SOME).join(", ")}${all.length > SOME ? ` and ${all.length - SOME} more` : ""}` : `the same as ${planner}, under another name`}</>;
}

/** Whether a policy of one's own drives. */
const isOwn = ({ values }: Chosen) => values["file"]?.startsWith("own/") ?? false;
