// The form of one stage: its keys in groups, each with the fields of its record. Keys without a group come last.
import type { Field } from "../api";
import { isWrong, useSuiteContext } from "./context";
import { isPlain, withKey, type Plain } from "./model";
import { RecordFields, Value, Wrong } from "./Values";

const GROUPS: [string, string[]][] = [
  ["Where", ["world"]],
  ["The robot", ["robot", "robots", "pedestrians"]],
  ["The people", ["obstacles"]],
  ["Number and duration", ["episodes", "timeout", "seed", "goal_tolerance"]],
];
const CROWD = "crowd", MODEL = "model";

type Props = { stage: Plain; path: string; put(stage: Plain, key: string): void };

export function StageForm({ stage, path, put }: Props) {
  const around = useSuiteContext(), fields = around.records.Stage.fields, order = fields.map(({ name }) => name), crowd = around.records.CrowdSettings.fields;
  const set = (key: string, value: unknown) => put(withKey(stage, key, value, order), key);
  const row = (field: Field) => (
    <Value key={field.name} field={field} value={stage[field.name]} path={`${path}.${field.name}`} owner="Stage" beside={stage} put={(value) => set(field.name, value)} />
  );
  const chosen = (names: string[]) => names.flatMap((name) => fields.filter((field) => field.name === name));
  const grouped = new Set(["name", CROWD, ...GROUPS.flatMap(([, names]) => names)]), rest = fields.filter(({ name }) => !grouped.has(name));
  const given = rest.filter(({ name }) => stage[name] !== undefined).length, strange = Object.keys(stage).filter((key) => !order.includes(key));
  const people = isPlain(stage.crowd) ? stage.crowd : {};
  return (
    <div class="stage-form">
      <div class="fields">{chosen(["name"]).map(row)}</div>
      {GROUPS.map(([title, names]) => (
        <fieldset key={title}>
          <legend>{title}</legend>
          <div class="fields">{chosen(names).map(row)}</div>
          {names.includes("obstacles") && (
            <>
              <h3 id={`${path}.crowd`} tabIndex={-1}><code>crowd</code> <small>how people walk</small></h3>
              <Wrong path={`${path}.crowd`} />
              <RecordFields fields={crowd} value={people} path={`${path}.crowd`} owner="CrowdSettings" more={crowd.map(({ name }) => name).filter((name) => name !== MODEL)}
                put={(value) => set(CROWD, Object.keys(value).length ? value : undefined)} />
            </>
          )}
        </fieldset>
      ))}
      <details class="card" open={rest.some(({ name }) => isWrong(around, `${path}.${name}`)) || strange.length > 0}>
        <summary>{rest.length} more settings{given > 0 && `, ${given} given`}: periods, simulator, modules, ends …</summary>
        <RecordFields fields={rest} value={stage} path={path} owner="Stage" put={put} known={order.filter((name) => grouped.has(name))} />
      </details>
    </div>
  );
}
