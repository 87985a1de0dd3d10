// A measure over the steps of a training: lines with axes and a legend, read by the pointer or the arrow keys, and as a table.
import { useState } from "preact/hooks";
import { said, short, ticks, type Line, type Plot } from "./series";

const WIDTH = 640, HEIGHT = 270, LEFT = 58, RIGHT = 14, TOP = 12, BOTTOM = 44;
const COLOURS = ["var(--robot)", "light-dark(#b34700, #ff9a5c)", "light-dark(#00724f, #4cc9a0)", "light-dark(#9c3f7c, #e79bc8)", "light-dark(#6b5d00, #e0c94a)", "light-dark(#4b5563, #b6c0cc)"];

export function Chart({ plot, seeds }: { plot: Plot; seeds: number[] }) {
  const [at, setAt] = useState<number | null>(null);
  const all = plot.lines.flatMap(({ points }) => points), steps = [...new Set(all.map(([x]) => x))].sort((a, b) => a - b);
  const most = Math.max(1, ...steps), values = all.map(([, y]) => y);
  const [low, high] = plot.share ? [0, 1] : spanned(Math.min(...values), Math.max(...values));
  const x = (value: number) => LEFT + ((WIDTH - LEFT - RIGHT) * value) / most, y = (value: number) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (value - low)) / (high - low);
  const colour = ({ seed }: Line) => COLOURS[seeds.indexOf(seed) % COLOURS.length];
  const chosen = at === null || !steps.length ? null : steps[Math.min(at, steps.length - 1)]!;
  const nearest = (wanted: number) => steps.reduce((best, value, k) => (Math.abs(value - wanted) < Math.abs(steps[best]! - wanted) ? k : best), 0);
  const move = (event: PointerEvent & { currentTarget: SVGSVGElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    setAt(nearest((((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT) * most));
  };
  const key = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt((before) => Math.max(0, Math.min(steps.length - 1, (before ?? (by > 0 ? -1 : steps.length)) + by)));
  };
  return (
    <figure class="chart card" aria-label={plot.title}>
      <h3>{plot.title}{plot.unit && <small>, {plot.unit}</small>}</h3>
      <div tabIndex={0} role="group" aria-label={`${plot.title} over steps: arrow keys read values`} onKeyDown={key} onBlur={() => setAt(null)}>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" onPointerMove={move} onPointerDown={move} onPointerLeave={() => setAt(null)}>
          {ticks(low, high, 5).map((value) => <g key={value}><line class="grid" x1={LEFT} x2={WIDTH - RIGHT} y1={y(value)} y2={y(value)} /><text x={LEFT - 8} y={y(value) + 4} text-anchor="end">{plot.share ? Math.round(100 * value) : short(value)}</text></g>)}
          {ticks(0, most, 6).map((value) => <text key={value} x={x(value)} y={HEIGHT - BOTTOM + 18} text-anchor="middle">{short(value)}</text>)}
          <line class="axis" x1={LEFT} x2={WIDTH - RIGHT} y1={HEIGHT - BOTTOM} y2={HEIGHT - BOTTOM} />
          <text x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - 8} text-anchor="middle">environment steps</text>
          {chosen !== null && <line class="cursor" x1={x(chosen)} x2={x(chosen)} y1={TOP} y2={HEIGHT - BOTTOM} />}
          {plot.lines.map((line) => (
            <g key={line.name} style={{ color: colour(line) }} class={line.dots ? "thick" : ""}>
              <polyline points={line.points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ")} />
              {(line.dots || line.points.length === 1) && line.points.map(([a, b]) => <circle key={a} cx={x(a)} cy={y(b)} r={3.5} />)}
            </g>
          ))}
        </svg>
      </div>
      <p class="reading" role="status">{chosen === null ? <span class="faint">Point at the chart, or use the arrow keys, to read values.</span> : <><b>{chosen.toLocaleString("en")} steps</b> {plot.lines.map((line) => <span key={line.name}>{line.name}: {reading(line, chosen, plot)}</span>)}</>}</p>
      <p class="legend">{plot.lines.map((line) => <span key={line.name}><i class={line.dots ? "thick" : ""} style={{ background: colour(line) }} />{line.name}</span>)}</p>
      <details><summary>The values as a table</summary><Table plot={plot} steps={steps} /></details>
    </figure>
  );
}

function Table({ plot, steps }: { plot: Plot; steps: number[] }) {
  return (
    <div class="scroll tall" tabIndex={0} role="region" aria-label={`${plot.title}, values`}>
      <table>
        <thead><tr><th class="number">Steps</th>{plot.lines.map(({ name }) => <th key={name} class="number">{name}</th>)}</tr></thead>
        <tbody>{steps.map((step) => <tr key={step}><th scope="row" class="number">{step.toLocaleString("en")}</th>{plot.lines.map((line) => { const found = line.points.find(([x]) => x === step); return <td key={line.name} class="number">{found ? said(found[1], plot) : ""}</td>; })}</tr>)}</tbody>
      </table>
    </div>
  );
}

/** The value of a line at a number of steps, or the last before it. */
function reading(line: Line, step: number, plot: Plot): string {
  const found = line.points.findLast(([x]) => x <= step);
  return found ? `${said(found[1], plot)}${found[0] < step ? ` (at ${short(found[0])})` : ""}` : "none yet";
}

function spanned(least: number, most: number): [number, number] {
  if (!Number.isFinite(least)) return [0, 1];
  const room = (most - least || Math.abs(most) || 1) * 0.06;
  return [least >= 0 && least < (most - least) / 2 ? 0 : least - room, most + room];
}
