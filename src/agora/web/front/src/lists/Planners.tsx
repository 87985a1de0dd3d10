// All planners and presets, with what they are and take.
import { useState } from "preact/hooks";
import { useGet, wordsOf, type Component, type Planner } from "../api";
import { Said } from "../Said";
import { begin, FIRST } from "../live/begin";
import { Beside } from "./Beside";

const LABELS: Record<string, string> = {
  faithful: "as its source does it", reconstruction: "made from a paper that leaves things open", small: "as its source, but smaller",
};

export function Planners({ name }: { name: string }) {
  const { data, error } = useGet<Planner[]>("/api/planners", true);
  const planner = data?.find((one) => one.name === name) ?? (name ? undefined : data?.find((one) => one.name === FIRST.planner));
  const entries = data?.map((one) => ({ name: one.name, words: one.summary.replaceAll("`", ""), tag: one.kind === "preset" ? "preset" : one.learned ? "learned" : "" }));
  return (
    <Beside title="Planners" path="/planners" entries={entries} error={error} chosen={planner?.name ?? ""}>
      {planner ? <Detail key={planner.name} planner={planner} /> : data && <p>There is no planner “{name}”.</p>}
    </Beside>
  );
}

function Detail({ planner }: { planner: Planner }) {
  const { data, error } = useGet<Component>(`/api/kinds/planners/${encodeURIComponent(planner.planner)}`, true);
  const [wrong, setWrong] = useState("");
  const watch = () => begin({ ...FIRST, planner: planner.name }).catch((problem: unknown) => setWrong(wordsOf(problem)));
  return (
    <>
      <h2>{planner.name}</h2>
      {planner.kind === "preset" && <p>A preset of <a href={`/planners/${planner.planner}`}>{planner.planner}</a>: the same planner with values of its own.</p>}
      {planner.missing
        ? <p class="bad">It cannot run here: {planner.missing}</p>
        : <p class="files"><button type="button" class="first" onClick={watch}>Watch it</button><a class="button" href={`/run?planner=${encodeURIComponent(planner.name)}`}>Run it on a suite</a></p>}
      {(wrong || error) && <p class="bad" role="alert">{wrong || error}</p>}
      <dl>
        {planner.label && <><dt>Label</dt><dd>{planner.label}{LABELS[planner.label] && `: ${LABELS[planner.label]}`}</dd></>}
        <dt>Reads</dt><dd>{planner.needs.join(", ") || "the robot's state and its goal"}</dd>
        <dt>Learned</dt><dd>{planner.learned ? "yes, see Policies" : "no"}</dd>
      </dl>
      {data && <p class="said"><Said text={data.text} /></p>}
      {data && data.fields.length > 0 && (
        <>
          <h3>Parameters</h3>
          <div class="scroll"><table>
            <thead><tr><th>Name</th><th>Default</th><th>What it is</th></tr></thead>
            <tbody>{data.fields.map((field) => (
              <tr key={field.name}><th scope="row"><code>{field.name}</code></th><td>{shown(field.default)}</td><td class="words"><Said text={field.help} /> <small>{field.words}</small></td></tr>
            ))}</tbody>
          </table></div>
        </>
      )}
    </>
  );
}

const shown = (value: unknown) => (value === null || value === undefined ? "none" : typeof value === "object" ? <code>{JSON.stringify(value).replaceAll(",", ", ")}</code> : String(value));
