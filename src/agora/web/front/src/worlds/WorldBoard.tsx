// The map on which a world is drawn: tools, mouse, fingers, keys.
import { useEffect, useImperativeHandle, useRef, useState } from "preact/hooks";
import type { Ref } from "preact";
import type { Point } from "../../../../viewer/templates/painter.js";
import { useShortcuts } from "../own/shortcuts";
import type { Chosen, Drawing } from "./drawing";
import { Plan } from "./Plan";
import type { Shape, Stroke } from "./raster";
import { hint, STEPS, TOOLS, type Tool } from "./tools";
import type { FurnitureOutline, Piece, WorldDrawing, Zone } from "../schemas";

export type WorldBoardView = { redraw(): void };
type Props = { drawing: Drawing; sent: WorldDrawing; things: FurnitureOutline[]; chosen: Chosen | null; view: Ref<WorldBoardView>; changed(): void; choose(chosen: Chosen | null): void };
type Drag = "pan" | "two" | "pen" | { held: Chosen; grip: Point } | { turn: number } | null;

const DARK = matchMedia("(prefers-color-scheme: dark)");
const FAR = 6; // pixels from which on a press is a drag
const THICK = [0.05, 0.1, 0.15, 0.2, 0.3, 0.5];
const TWO: Partial<Record<Tool, Shape>> = { wall: "line", gap: "gap", room: "room", block: "block" };
const TURN = Math.PI / 36; // a thing is turned by so much where places snap: its sides lie on cells at right angles
const MARGIN = 40; // pixels about the cross that stay in the picture
const round = (value: number) => Math.round(value * 1000) / 1000;

export function WorldBoard({ drawing, sent, things, chosen, view, changed, choose }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null), stage = useRef<HTMLDivElement>(null), plan = useRef<Plan | null>(null), stale = useRef(true);
  const [tool, setTool] = useState<Tool>("select"), [thick, setThick] = useState(0.1), [step, setStep] = useState(0.1), [model, setModel] = useState("office_desk");
  const [said, setSaid] = useState(""), [begun, setBegun] = useState(false);
  const at = useRef<Point>(drawing.inside([drawing.origin[0] + drawing.width / 2, drawing.origin[1] + drawing.height / 2])), cross = useRef(false);
  const line = useRef<Point[]>([]); // what is being drawn
  const moving = useRef<{ zones: Zone[]; furniture: Piece[] } | null>(null);
  const latest = useRef({ tool, thick, chosen });
  latest.current = { tool, thick, chosen };
  const redraw = () => { stale.current = true; };
  useImperativeHandle(view, () => ({ redraw }), []);
  useEffect(redraw);

  const size = drawing.resolution, grid = step < 0 ? size : step;
  const snapped = ([x, y]: Point): Point => drawing.inside(grid ? [round(drawing.origin[0] + Math.round((x - drawing.origin[0]) / grid) * grid), round(drawing.origin[1] + Math.round((y - drawing.origin[1]) / grid) * grid)] : [round(x), round(y)]);
  const turned = (angle: number) => (grid ? Math.round(angle / TURN) * TURN : angle);
  const straight = ([x, y]: Point): Point => {
    const from = line.current.at(-1);
    if (!from) return [x, y];
    const [dx, dy] = [x - from[0], y - from[1]], turn = Math.round(Math.atan2(dy, dx) / (Math.PI / 4)) * (Math.PI / 4), far = Math.hypot(dx, dy);
    return drawing.inside([round(from[0] + far * Math.cos(turn)), round(from[1] + far * Math.sin(turn))]);
  };
  const strokeOf = (points: Point[]): Stroke | null => {
    const { tool: now, thick: broad } = latest.current, shape = TWO[now];
    if (shape && points.length > 1) return { shape, points: [points[0], points.at(-1)!], thick: now === "gap" ? Math.max(2 * broad + 2 * size, 0.3) : broad, value: now === "gap" ? 0 : 1 };
    if (now === "pen" && points.length) return { shape: "pen", points, thick: broad, value: 1 };
    return now === "eraser" && points.length ? { shape: "pen", points, thick: Math.max(4 * broad, 3 * size), value: 0 } : null;
  };
  const measure = (): string => {
    const from = line.current.at(-1), [x, y] = at.current, { tool: now } = latest.current;
    if (!from || now === "pen" || now === "eraser") return "";
    const [dx, dy] = [x - from[0], y - from[1]];
    if (now === "room" || now === "block") return `${Math.abs(dx).toFixed(2)} × ${Math.abs(dy).toFixed(2)} m`;
    return `${Math.hypot(dx, dy).toFixed(2)} m, ${((Math.atan2(dy, dx) * 180) / Math.PI).toFixed(0)}°`;
  };
  const stop = () => { line.current = []; setBegun(false); redraw(); };
  const pick = (next: Tool) => { setTool(next); stop(); };

  useEffect(() => {
    const place = canvas.current!, around = stage.current!, own = new Plan(place, drawing, things);
    plan.current = own;
    let asked = 0;
    const [x, y] = drawing.origin, whole: [number, number, number, number] = [x - 0.3, y - 0.3, x + drawing.width + 0.3, y + drawing.height + 0.3];
    const dress = () => { own.wear(DARK.matches ? sent.colours.dark : sent.colours.light); redraw(); };
    const resize = () => {
      const width = Math.max(1, around.clientWidth), height = Math.round(Math.min(width * Math.min(0.85, Math.max(0.5, drawing.height / drawing.width)), Math.max(300, 0.68 * innerHeight)));
      place.style.height = `${height}px`;
      own.resize(width, height);
      if (own.fitted) own.fit(whole);
      redraw();
    };
    const frame = () => {
      asked = requestAnimationFrame(frame);
      if (!stale.current) return;
      stale.current = false;
      const now = latest.current, points = line.current, zone = now.tool === "zone" && points.length ? [...points, at.current] : null;
      const free = now.tool === "pen" || now.tool === "eraser", stroke = now.tool === "zone" ? null : strokeOf(free ? points : points.length ? [...points, at.current] : []);
      const { zones, furniture } = moving.current ?? drawing.rest;
      own.show({ chosen: now.chosen, stroke, corners: zone, cross: cross.current || points.length ? at.current : null, words: measure(), zones, furniture });
    };
    const sized = new ResizeObserver(resize);
    sized.observe(around);
    DARK.addEventListener("change", dress);
    own.fitted = true;
    dress();
    resize();
    asked = requestAnimationFrame(frame);
    return () => { cancelAnimationFrame(asked); sized.disconnect(); DARK.removeEventListener("change", dress); };
  }, [drawing, things]);

  const commit = (stroke: Stroke | null) => { if (stroke) drawing.stroke(stroke); changed(); };
  const closeZone = () => {
    const corners = line.current;
    stop();
    if (corners.length < 3) return;
    const number = drawing.rest.zones.length;
    drawing.put({ zones: [...drawing.rest.zones, { label: `zone ${number + 1}`, category: ["room"], polygon: [corners] }] });
    choose({ kind: "zone", number });
    changed();
  };
  // what a press, or Enter, does at a place
  const press = (point: Point) => {
    at.current = point;
    if (TWO[tool]) {
      const [from] = line.current;
      if (!from) { line.current = [point]; setBegun(true); }
      else if (from[0] !== point[0] || from[1] !== point[1]) {
        commit(strokeOf([from, point]));
        if (tool === "wall") line.current = [point]; else stop();
      }
    } else if (tool === "zone") {
      const [first] = line.current, last = line.current.at(-1), near = Math.max(0.5 * grid, 8 / plan.current!.scale);
      const same = (other: Point | undefined) => other !== undefined && Math.hypot(other[0] - point[0], other[1] - point[1]) < near;
      if (line.current.length > 2 && (same(first) || same(last))) closeZone();
      else if (!same(last)) { line.current = [...line.current, point]; setBegun(true); }
    } else if (tool === "thing") {
      drawing.put({ furniture: [...drawing.rest.furniture, { model, x: point[0], y: point[1], heading: 0 }] });
      choose({ kind: "piece", number: drawing.rest.furniture.length - 1 });
      changed();
    }
    redraw();
  };

  const fingers = useRef(new Map<number, Point>()), drag = useRef<Drag>(null), from = useRef<Point>([0, 0]);
  const down = (event: PointerEvent) => {
    if (event.button > 1) return;
    const here: Point = [event.offsetX, event.offsetY], own = plan.current!, point = snapped(own.at(...here));
    canvas.current!.setPointerCapture(event.pointerId);
    fingers.current.set(event.pointerId, here);
    from.current = here;
    cross.current = false;
    if (event.button === 1 || fingers.current.size > 1) { event.preventDefault(); drag.current = "pan"; if (tool === "pen" || tool === "eraser") stop(); return; }
    if (tool === "select") {
      const hit = own.hit(chosen, ...here), [x, y] = own.at(...here);
      choose(hit);
      drag.current = hit ? { held: hit, grip: [x, y] } : "pan";
    } else if (tool === "pen" || tool === "eraser") { line.current = [own.at(...here)]; drag.current = "pen"; }
    else if (tool === "thing") { press(point); drag.current = { turn: drawing.rest.furniture.length - 1 }; }
    else { press(event.shiftKey ? straight(point) : point); drag.current = "two"; }
    redraw();
  };
  const move = (event: PointerEvent) => {
    const own = plan.current, before = fingers.current.get(event.pointerId), here: Point = [event.offsetX, event.offsetY], now = drag.current;
    if (!own) return;
    if (line.current.length && drag.current !== "pan") { const point = snapped(own.at(...here)); at.current = event.shiftKey ? straight(point) : point; redraw(); }
    if (!before) return;
    const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
    fingers.current.set(event.pointerId, here);
    if (other) { own.zoom(apart(here, other) / Math.max(1, apart(before, other)), (here[0] + other[0]) / 2, (here[1] + other[1]) / 2); redraw(); return; }
    if (now === "pan") own.pan(here[0] - before[0], here[1] - before[1]);
    else if (now === "pen") {
      const point = drawing.inside(own.at(...here)), last = line.current.at(-1);
      if (last && Math.hypot(point[0] - last[0], point[1] - last[1]) >= 0.5 * size) line.current.push(point);
    } else if (now && typeof now === "object" && apart(here, from.current) > FAR) {
      if ("turn" in now) {
        const piece = drawing.rest.furniture[now.turn], [x, y] = own.at(...here);
        moving.current = { ...drawing.rest, furniture: replaced(drawing.rest.furniture, now.turn, { ...piece, heading: turned(Math.atan2(y - piece.y, x - piece.x)) }) };
      } else {
        const [x, y] = own.at(...here);
        moving.current = moved(drawing, now.held, [x - now.grip[0], y - now.grip[1]], snapped);
      }
    }
    redraw();
  };
  const up = (event: PointerEvent) => {
    fingers.current.delete(event.pointerId);
    if (fingers.current.size) return;
    const now = drag.current, point = snapped(plan.current!.at(event.offsetX, event.offsetY)), far = apart([event.offsetX, event.offsetY], from.current) > FAR;
    drag.current = null;
    if (now === "pen") { const stroke = strokeOf(line.current); stop(); commit(stroke); }
    else if (now === "two" && far && TWO[tool]) { press(event.shiftKey ? straight(point) : point); stop(); }
    else if (moving.current) { drawing.put(moving.current); moving.current = null; changed(); }
    redraw();
  };
  const zoom = (factor: number, px?: number, py?: number) => { plan.current?.zoom(factor, px, py); redraw(); };
  const fit = () => { const [x, y] = drawing.origin; plan.current?.fit([x - 0.3, y - 0.3, x + drawing.width + 0.3, y + drawing.height + 0.3]); redraw(); };
  useEffect(() => {
    const own = canvas.current!, wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !stage.current!.contains(document.activeElement)) return;
      event.preventDefault();
      zoom(Math.exp(-0.0015 * event.deltaY), event.offsetX, event.offsetY);
    };
    own.addEventListener("wheel", wheel, { passive: false });
    return () => own.removeEventListener("wheel", wheel);
  }, []);

  useShortcuts({
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: fit,
    Escape: () => { if (line.current.length) stop(); else if (tool === "select") choose(null); else pick("select"); },
    ...Object.fromEntries(TOOLS.map((one) => [one.key, () => pick(one.tool)])),
  });
  const onStage = (event: KeyboardEvent) => {
    const own = plan.current, by = (grid || 0.1) * (event.shiftKey ? 10 : 1);
    const ways: Record<string, Point> = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, by], ArrowDown: [0, -by] };
    if (event.target !== stage.current || !own || (tool === "select" && chosen)) return;
    if (event.key in ways) {
      event.preventDefault();
      event.stopPropagation();
      const [x, y] = at.current = snapped([at.current[0] + ways[event.key][0], at.current[1] + ways[event.key][1]]);
      cross.current = true;
      if ((tool === "pen" || tool === "eraser") && line.current.length) line.current.push([x, y]);
      const px = own.sx(x), py = own.sy(y);
      own.pan(Math.min(0, own.width - MARGIN - px) + Math.max(0, MARGIN - px), Math.min(0, own.height - MARGIN - py) + Math.max(0, MARGIN - py));
      setSaid(`${x.toFixed(2)}, ${y.toFixed(2)}${measure() && `; ${measure()}`}`);
    } else if (event.key === "Enter") {
      event.preventDefault();
      cross.current = true;
      if (tool === "select") choose(own.hit(null, own.sx(at.current[0]), own.sy(at.current[1])));
      else if (tool === "pen" || tool === "eraser") {
        if (line.current.length) { const stroke = strokeOf(line.current); stop(); commit(stroke); } else { line.current = [at.current]; setBegun(true); }
      } else press(at.current);
    }
    redraw();
  };

  return (
    <>
      <div class="bar tools" role="toolbar" aria-label="Tools">
        {TOOLS.map((one) => <button key={one.tool} type="button" aria-pressed={tool === one.tool} title={`${one.words} (${one.key})`} onClick={() => pick(one.tool)}>{one.words} <kbd aria-hidden="true">{one.key}</kbd></button>)}
      </div>
      <div class="bar">
        <label>Thickness <select value={thick} onChange={(event) => setThick(Number(event.currentTarget.value))}>{THICK.map((one) => <option key={one} value={one}>{one} m</option>)}</select></label>
        <label>Snap to <select value={step} onChange={(event) => setStep(Number(event.currentTarget.value))}>{STEPS.map(([value, words]) => <option key={value} value={value}>{words}</option>)}</select></label>
        {tool === "thing" && <label>Model <select value={model} onChange={(event) => setModel(event.currentTarget.value)}>{things.map(({ name }) => <option key={name} value={name}>{name.replaceAll("_", " ")}</option>)}</select></label>}
      </div>
      <p class="hint" role="status">{hint(tool, begun, drawing)}</p>
      <p class="hidden" aria-live="polite">{said}</p>
      <div class="live-stage moves" ref={stage} tabIndex={0} role="group" aria-label="Map. Arrow keys move the crosshair or the selected element (with shift: farther); Enter presses at the crosshair" onKeyDown={onStage} onBlur={() => { cross.current = false; redraw(); }}>
        <canvas ref={canvas} class={tool === "select" ? "" : "puts"} role="img" aria-label="Map of the world being drawn" onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={up} onDblClick={() => { if (tool === "zone") closeZone(); else stop(); }} />
        <div class="live-zoom">
          <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => zoom(1.25)}>+</button>
          <button type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => zoom(0.8)}>−</button>
          <button type="button" title="Show everything (0)" aria-label="Show everything" onClick={fit}>⤢</button>
        </div>
      </div>
    </>
  );
}

/** Zones and furniture with one of them, or a corner, moved. */
export function moved(drawing: Drawing, { kind, number, corner }: Chosen, [dx, dy]: Point, snapped: (point: Point) => Point): { zones: Zone[]; furniture: Piece[] } {
  const { zones, furniture } = drawing.rest;
  if (kind === "piece") {
    const [x, y] = snapped([furniture[number].x + dx, furniture[number].y + dy]);
    return { zones, furniture: replaced(furniture, number, { ...furniture[number], x, y }) };
  }
  let k = -1;
  const first = zones[number].polygon[0][0], there = snapped([first[0] + dx, first[1] + dy]), by: Point = [there[0] - first[0], there[1] - first[1]];
  const polygon = zones[number].polygon.map((one) => one.map((point): Point => {
    k++;
    if (corner !== undefined) return corner === k ? snapped([point[0] + dx, point[1] + dy]) : point;
    return drawing.inside([round(point[0] + by[0]), round(point[1] + by[1])]);
  }));
  return { zones: replaced(zones, number, { ...zones[number], polygon }), furniture };
}

export const replaced = <T,>(list: T[], number: number, one: T): T[] => list.map((other, k) => (k === number ? one : other));
const apart = (a: Point, b: Point) => Math.hypot(a[0] - b[0], a[1] - b[1]);
