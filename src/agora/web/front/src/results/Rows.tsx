// The rows of a run, a page at a time: sorted, searched and cut by the server.
import { useEffect, useState } from "preact/hooks";
import { useGet, type Cell, type Run } from "../api";
import { go } from "../router";
import { Replay } from "./Replay";
import type { RowsPage } from "../schemas";

const LIMIT = 100;
const ALWAYS = ["planner", "stage", "episode", "outcome"];

type Order = { sort: string; down: boolean };

export function Rows({ run, asked }: { run: Run; asked: URLSearchParams }) {
  const [offset, setOffset] = useState(0);
  const [order, setOrder] = useState<Order>({ sort: "", down: false });
  const [find, setFind] = useState("");
  const [all, setAll] = useState(false);
  const query = new URLSearchParams({ offset: String(offset), limit: String(LIMIT), find, sort: order.sort, down: String(order.down), done: String(run.done) });
  const { data, error } = useGet<RowsPage>(`/api/runs/${run.id}/rows?${query}`);
  const [page, setPage] = useState<RowsPage | undefined>();
  useEffect(() => { if (data) setPage(data); }, [data]);
  const episode = asked.get("episode");
  if (episode) return <Replay run={run} episode={episode} />;
  const names = (page?.columns ?? []).map(({ name }) => name), few = [...ALWAYS, ...(page?.few ?? [])];
  const shown = names.flatMap((name, k) => (all ? name !== "key" : few.includes(name)) ? [k] : []);
  const by = (sort: string) => { setOffset(0); setOrder((before) => (before.sort === sort ? (before.down ? { sort: "", down: false } : { sort, down: true }) : { sort, down: false })); };
  const total = page?.total ?? 0, key = names.indexOf("key");
  return (
    <>
      <div class="bar">
        <label>Find <input type="search" value={find} placeholder="planner, stage or outcome" onInput={(event) => { setFind(event.currentTarget.value); setOffset(0); }} /></label>
        <label><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> all {page ? `${names.length} columns` : "columns"}</label>
        <span class="bar-part pages" role="group" aria-label="Pages">
          <button type="button" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - LIMIT))}>Previous</button>
          <span role="status">{total ? `${offset + 1} to ${Math.min(offset + LIMIT, total)} of ${total}` : page || error ? "no rows" : "Reading the rows …"}</span>
          <button type="button" disabled={offset + LIMIT >= total} onClick={() => setOffset(offset + LIMIT)}>Next</button>
        </span>
      </div>
      {error && <p class="bad" role="alert">{error}</p>}
      {page && (
        <div class="scroll tall" tabIndex={0} role="region" aria-label="Episodes">
          <table>
            <thead><tr>
              <th><span class="hidden">Replay</span></th>
              {shown.map((k) => <Head key={names[k]} name={names[k]} unit={page.columns[k].unit} order={order} by={by} />)}
            </tr></thead>
            <tbody>
              {page.rows.map((row) => (
                <tr key={String(row[key])}>
                  <td>{(page.recorded?.includes(String(row[key])) ?? true) &&
                    <button type="button" title="Replay" aria-label={`Replay ${String(row[key])}`} onClick={() => go(`/results/${run.id}/rows?episode=${encodeURIComponent(String(row[key]))}`)}>▶</button>}</td>
                  {shown.map((k) => <td key={names[k]} class={typeof row[k] === "number" ? "number" : ""}>{cell(row[k], names[k])}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function Head({ name, unit, order, by }: { name: string; unit: string; order: Order; by(name: string): void }) {
  const here = order.sort === name;
  return (
    <th aria-sort={here ? (order.down ? "descending" : "ascending") : undefined}>
      <button type="button" onClick={() => by(name)}>{name} {here ? (order.down ? "↓" : "↑") : <span class="faint">↕</span>}</button>
      {unit && <small>{unit}</small>}
    </th>
  );
}

function cell(value: Cell, name: string): string {
  if (value === null) return "–";
  if (typeof value === "number" && !Number.isInteger(value)) return Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
  return name === "outcome" ? String(value).replaceAll("_", " ") : String(value);
}
