// Trained policies, with their cards.
import { useState } from "preact/hooks";
import { isOwn, isUploaded, useGet } from "../api";
import { Paragraphs } from "../Prose";
import { OwnPolicy, Upload } from "./OwnPolicy";
import { ListAndDetail } from "./ListAndDetail";
import type { Card, Policy, Result } from "../schemas";

export function Policies({ name }: { name: string }) {
  const [times, setTimes] = useState(0), changed = () => setTimes(times + 1);
  const { data, error } = useGet<Policy[]>(`/api/policies${times ? `?again=${times}` : ""}`);
  const policy = data?.find((one) => one.name === name) ?? (name ? undefined : data?.[0]);
  const entries = data?.map((one) => ({ name: one.name, words: about(one), ...(isOwn(one) ? { tag: "yours" } : {}) }));
  return (
    <ListAndDetail title="Policies" path="/policies" entries={entries} error={error} chosen={policy?.name ?? ""}>
      <Upload changed={changed} />
      <p class="faint"><small>To upload a planner as Python code, use the page <a href="/planners">Planners</a>.</small></p>
      {policy && <h2>{policy.name}</h2>}
      {policy?.run && <p><a class="button" href={`/training/${policy.run}`}>Its training run: curves, files, test drive</a></p>}
      {policy && isUploaded(policy) ? <OwnPolicy key={policy.name} policy={policy} changed={changed} /> : policy?.card ? <CardDetail card={policy.card} /> : data && <p>{policy ? "This policy has no card yet." : `There is no policy “${name}”.`}</p>}
    </ListAndDetail>
  );
}

function about(policy: Policy): string {
  if (policy.card) return `trained on ${policy.card.training.suite}`;
  return isUploaded(policy) ? "uploaded" : policy.run ? "its training has not finished" : "no card";
}

export function CardDetail({ card: { training, seeds } }: { card: Card }) {
  const tests = seeds.flatMap(({ seed, results }) => results.map((result) => ({ seed, ...result })));
  return (
    <>
      <p class="files"><a class="button" href={`/planners/${encodeURIComponent(training.planner.split(/[:(]/)[0] ?? "")}`}>Its planner, {training.planner}</a></p>
      <h3>How it was trained</h3>
      <Paragraphs text={training.method} />
      <dl>
        <dt>Trained on</dt><dd>{training.suite}, {training.stage}</dd>
        <dt>Steps</dt><dd>{seeds.map(({ steps }) => steps.toLocaleString("en")).join(", ")}, one number per seed</dd>
        <dt>Tested on</dt><dd>{training.test}</dd>
      </dl>
      <h3>Limitations</h3>
      <Paragraphs text={training.cannot} />
      {tests.length > 0 && (
        <>
          <h3>Test</h3>
          <div class="scroll" tabIndex={0} role="region" aria-label="Test"><table>
            <thead><tr><th>Stage</th><th class="number">Seed</th><th class="number">Episodes</th><th class="number">Reached</th><th class="number">Collided</th><th class="number">Timed out</th><th class="number">Mean time</th></tr></thead>
            <tbody>{tests.map((row) => <tr key={`${row.stage} ${row.seed}`}><th scope="row">{row.stage}</th><td class="number">{row.seed}</td><td class="number">{row.episodes}</td><Share of={row} count={row.reached} /><Share of={row} count={row.collided} /><Share of={row} count={row.late} /><td class="number">{seconds(row.seconds)}</td></tr>)}</tbody>
          </table></div>
        </>
      )}
      {training.published.length > 0 && (
        <>
          <h3>Published</h3>
          <div class="scroll" tabIndex={0} role="region" aria-label="Published"><table>
            <thead><tr><th>Stage</th><th class="number">Reached</th><th class="number">Mean time</th><th>Source</th></tr></thead>
            <tbody>{training.published.map((row, k) => <tr key={k}><th scope="row">{row.stage}</th><td class="number">{percent(row.success)}</td><td class="number">{seconds(row.seconds)}</td><td class="words">{row.source}</td></tr>)}</tbody>
          </table></div>
        </>
      )}
    </>
  );
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const seconds = (value: number | null | undefined) => (value == null ? "–" : `${value.toFixed(1)} s`);

function Share({ of, count }: { of: Result; count: number }) {
  return <td class="number">{percent(count / Math.max(1, of.episodes))}</td>;
}
