// The stages in their order: chosen, added, copied, taken out, and moved by mouse and keys.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { freeName, moved, nameOfStage, type Plain } from "./model";

type Props = { stages: Plain[]; at: number; counts: Map<string, number>; wrong: Set<number>; select(at: number): void; put(stages: Plain[], at: number): void; fresh(): Plain };

export function StageStrip({ stages, at, counts, wrong, select, put, fresh }: Props) {
  const list = useRef<HTMLUListElement>(null), held = useRef(-1), [over, setOver] = useState(-1), focus = useRef(false);
  useLayoutEffect(() => { // a key may follow the last one before the browser paints
    if (focus.current) list.current?.querySelectorAll("button")[at]?.focus();
    focus.current = false;
  }, [at, stages]);
  const move = (from: number, to: number) => { if (to >= 0 && to < stages.length && from !== to) put(moved(stages, from, to), to); };
  const copy = () => put([...stages.slice(0, at + 1), { ...structuredClone(stages[at]), name: freeName(stages, nameOfStage(stages[at])) }, ...stages.slice(at + 1)], at + 1);
  const out = () => { if (stages.length > 1) put(stages.filter((_, k) => k !== at), Math.max(0, at - 1)); };
  const pressed = (event: KeyboardEvent, k: number) => {
    const by = event.key === "ArrowLeft" || event.key === "ArrowUp" ? -1 : event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : 0, to = k + by;
    if (event.key === "Delete") out();
    else if (!by || event.ctrlKey || event.metaKey) return;
    else if (event.altKey) move(k, to);
    else if (stages[to]) select(to);
    event.preventDefault();
    focus.current = true;
  };
  return (
    <section aria-labelledby="stages">
      <h2 id="stages">Stages <small>drag to reorder, or press <kbd>alt</kbd> with an arrow key; arrow keys select</small></h2>
      <ul class="plain strip" ref={list}>
        {stages.map((stage, k) => {
          const name = nameOfStage(stage), count = counts.get(name);
          return (
            <li key={k} class={over === k ? "over" : ""} draggable onDragStart={() => { held.current = k; }} onDragEnd={() => setOver(-1)}
              onDragOver={(event) => { event.preventDefault(); setOver(k); }} onDrop={(event) => { event.preventDefault(); setOver(-1); if (held.current >= 0) move(held.current, k); held.current = -1; }}>
              <button type="button" aria-pressed={k === at} onClick={() => select(k)} onKeyDown={(event) => pressed(event, k)}>
                {name || "unnamed"} {count !== undefined && <small>{count} {count === 1 ? "episode" : "episodes"}</small>}{wrong.has(k) && <b class="bad"> !<span class="hidden"> has a problem</span></b>}
              </button>
            </li>
          );
        })}
      </ul>
      <p class="bar-part">
        <button type="button" onClick={() => put([...stages, { ...fresh(), name: freeName(stages, `stage_${stages.length + 1}`) }], stages.length)}>Add a stage</button>
        <button type="button" disabled={!stages.length} onClick={copy}>Copy this one</button>
        <button type="button" disabled={stages.length < 2} onClick={out}>Remove it</button>
        <button type="button" disabled={at < 1} onClick={() => move(at, at - 1)}>Earlier</button>
        <button type="button" disabled={at >= stages.length - 1} onClick={() => move(at, at + 1)}>Later</button>
      </p>
    </section>
  );
}
