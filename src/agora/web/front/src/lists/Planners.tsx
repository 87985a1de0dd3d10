// All planners and presets, with their descriptions and parameters.
import { useState } from "preact/hooks";
import { isCode, useGet, wordsOf } from "../api";
import { Paragraphs, Prose } from "../Prose";
import { begin, FIRST } from "../live/start";
import { ListAndDetail } from "./ListAndDetail";
import { Bring, Code } from "./OwnPlanner";
import type { Component, Planner } from "../schemas";

const LABELS: Record<string, string> = {
  faithful: "as described in its source", reconstruction: "from a paper that does not specify all details", small: "as described in its source, but smaller",
};

export function Planners({ name }: { name: string }) {
  const [times, setTimes] = useState(0), changed = () => setTimes(times + 1);
  const { data, error } = useGet<Planner[]>(`/api/planners${times ? `?again=${times}` : ""}`, times === 0);
  const planner = data?.find((one) => one.name === name) ?? (name ? undefined : data?.find((one) => one.name === FIRST.planner));
  const entries = data?.map((one) => ({ name: one.name, words: one.summary.replaceAll("`", ""), tag: isCode(one) ? "yours" : one.kind === "preset" ? "preset" : one.learned ? "learned" : "" }));
  return (
    <ListAndDetail title="Planners" path="/planners" entries={entries} error={error} chosen={planner?.name ?? ""}>
      <Bring changed={changed} />
      {planner ? <Detail key={`${planner.name} ${times}`} planner={planner} changed={changed} /> : data && <p>There is no planner “{name}”.</p>}
    </ListAndDetail>
  );
}

function Detail({ planner, changed }: { planner: Planner; changed(): void }) {
  const { data, error } = useGet<Component>(`/api/kinds/planners/${encodeURIComponent(planner.planner)}`, true);
  const [wrong, setWrong] = useState("");
  const watch = () => begin({ ...FIRST, planner: planner.name }).catch((problem: unknown) => setWrong(wordsOf(problem)));
  return (
    <>
      <h2>{planner.name}</h2>
      {planner.kind === "preset" && <p>A preset of <a href={`/planners/${planner.planner}`}>{planner.planner}</a>: the same planner with different parameter values{Object.keys(planner.changes).length > 0 && <>: {Object.entries(planner.changes).map(([name, value], k) => <>{k > 0 && ", "}<code>{name}</code> {shown(value)}</>)}</>}.</p>}
      {planner.missing
        ? <p class="bad">It cannot run on this server: {planner.missing}</p>
        : <p class="files"><button type="button" class="first" onClick={watch}>Watch it</button><a class="button" href={`/run?planner=${encodeURIComponent(planner.name)}`}>Run it on a suite</a></p>}
      {isCode(planner) && <Code planner={planner} changed={changed} />}
      {(wrong || error) && <p class="bad" role="alert">{wrong || error}</p>}
      <dl>
        {planner.label && <><dt>Label</dt><dd>{planner.label}{LABELS[planner.label] && `: ${LABELS[planner.label]}`}</dd></>}
        <dt>Reads</dt><dd>{planner.needs.join(", ") || "the robot's state and its goal"}</dd>
        <dt>Learned</dt><dd>{planner.learned ? "yes, see Policies" : "no"}</dd>
      </dl>
      {data && <Paragraphs text={data.text} />}
      {data && data.fields.length > 0 && (
        <>
          <h3>Parameters{planner.kind === "preset" && `, with the defaults of ${planner.planner}`}</h3>
          <dl class="parameters-list">
            {data.fields.map((field) => (
              <div key={field.name}><dt><code>{field.name}</code> {shown(field.default)}</dt><dd><Prose text={field.help} /> <small>{field.words}</small></dd></div>
            ))}
          </dl>
        </>
      )}
    </>
  );
}

const shown = (value: unknown) => (value === null || value === undefined ? "none" : typeof value === "object" ? JSON.stringify(value).replaceAll(",", ", ") : String(value));
