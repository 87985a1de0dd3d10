// The selection in a world: the fields of a zone or a thing; and the list of all of them.
import type { Chosen, Drawing } from "./drawing";
import { CATEGORIES } from "./tools";
import { replaced } from "./WorldBoard";

type Props = { drawing: Drawing; chosen: Chosen | null; changed(): void; choose(chosen: Chosen | null): void };

export function SelectionFields({ drawing, chosen, changed, choose }: Props) {
  if (!chosen) return null;
  const { zones, furniture } = drawing.rest, { number } = chosen;
  const remove = () => { without(drawing, chosen); choose(null); changed(); };
  if (chosen.kind === "zone") {
    const zone = zones[number], put = (values: Partial<typeof zone>, tag: string) => { drawing.put({ zones: replaced(zones, number, { ...zone, ...values }) }, `${tag}.${number}`); changed(); };
    return (
      <section class="card" aria-labelledby="chosen">
        <h2 id="chosen">{zone.label || "Zone"}</h2>
        <label class="row">Name <input type="text" maxLength={80} required value={zone.label} onInput={(event) => put({ label: event.currentTarget.value }, "label")} /></label>
        <label class="row">Kinds <input type="text" maxLength={200} list="categories" required value={zone.category.join(", ")} onChange={(event) => put({ category: event.currentTarget.value.split(",").map((word) => word.trim()).filter(Boolean) }, "category")} /></label>
        <datalist id="categories">{CATEGORIES.map((one) => <option key={one} value={one} />)}</datalist>
        <p class="faint"><small>Kinds, separated by commas: {CATEGORIES.slice(0, 6).join(", ")} … No people are placed in a forbidden zone. {zone.polygon.flat().length} corners; drag one to move it.</small></p>
        <button type="button" onClick={remove}>Remove it</button>
      </section>
    );
  }
  const piece = furniture[number], put = (values: Partial<typeof piece>, tag: string) => { drawing.put({ furniture: replaced(furniture, number, { ...piece, ...values }) }, `${tag}.${number}`); changed(); };
  const numbers = (key: "x" | "y", words: string) => <label>{words} <input type="number" step="0.05" value={piece[key]} onChange={(event) => { if (Number.isFinite(event.currentTarget.valueAsNumber)) { const at = drawing.inside(key === "x" ? [event.currentTarget.valueAsNumber, piece.y] : [piece.x, event.currentTarget.valueAsNumber]); put({ x: at[0], y: at[1] }, key); } }} /></label>;
  return (
    <section class="card" aria-labelledby="chosen">
      <h2 id="chosen">{piece.model.replaceAll("_", " ")}</h2>
      <div class="few">
        {numbers("x", "x m")}{numbers("y", "y m")}
        <label>Heading ° <input type="number" step="5" value={Math.round((piece.heading * 180) / Math.PI)} onChange={(event) => put({ heading: ((event.currentTarget.valueAsNumber || 0) * Math.PI) / 180 }, "heading")} /></label>
      </div>
      <button type="button" onClick={remove}>Remove it</button>
    </section>
  );
}

export function Parts({ drawing, chosen, choose }: Omit<Props, "changed">) {
  const { zones, furniture } = drawing.rest, is = (kind: Chosen["kind"], number: number) => chosen?.kind === kind && chosen.number === number;
  return (
    <section class="card" aria-labelledby="parts">
      <h2 id="parts">In this world</h2>
      {!zones.length && !furniture.length && <p class="faint">No zones and no furniture yet.</p>}
      <ul class="plain elements moves">
        {zones.map((zone, k) => <li key={`z${k}`}><button type="button" aria-pressed={is("zone", k)} onClick={() => choose({ kind: "zone", number: k })}><i class="dot" aria-hidden="true" />{zone.label} <small>{zone.category.join(", ")}</small></button></li>)}
        {furniture.map((piece, k) => <li key={`f${k}`}><button type="button" aria-pressed={is("piece", k)} onClick={() => choose({ kind: "piece", number: k })}><i class="dot static" aria-hidden="true" />{piece.model.replaceAll("_", " ")} <small>at {piece.x.toFixed(1)}, {piece.y.toFixed(1)}</small></button></li>)}
      </ul>
      {(zones.length > 0 || furniture.length > 0) && <p class="faint"><small>For the selected zone or object: arrows move it (with shift: farther), <kbd>[</kbd> <kbd>]</kbd> turn an object, <kbd>del</kbd> removes it.</small></p>}
    </section>
  );
}

export function without(drawing: Drawing, { kind, number }: Chosen): void {
  const { zones, furniture } = drawing.rest, rest = <T,>(list: T[]) => list.filter((_, k) => k !== number);
  drawing.put(kind === "zone" ? { zones: rest(zones) } : { furniture: rest(furniture) });
}
