// The map on which a scenario is drawn: tools, mouse, fingers, keys.
import { useEffect, useImperativeHandle, useRef, useState } from "preact/hooks";
import type { Ref } from "preact";
import { useShortcuts } from "../own/shortcuts";
import { added, apart as parted, freeName, has, headingOf, movedTo, partners, people, placeOf, rounded, talkers, talksWith, turnedTo, type Content, type Part, type Place } from "./model";
import { Sketch, type Hit } from "./Sketch";
import { hint, TOOLS, type Tool } from "./tools";
import type { ScenarioParts, World } from "../schemas";

export type BoardView = { tool(tool: Tool): void };
type Props = {
  content: Content; world: World; parts: ScenarioParts; selected: Part | null; wrong: Set<string>; view: Ref<BoardView>;
  put(content: Content, tag?: string): void; select(part: Part | null): void;
};
type Finger = { x: number; y: number };
type Drag = Hit | { pan: true } | { robot: Place; goal: boolean } | { person: Part } | { thing: Part } | { way: Part };

const DARK = matchMedia("(prefers-color-scheme: dark)");
const STRIDE = 60; // an arrow key moves the picture by so many pixels, where nothing is selected
const TURNS = 6; // pixels of a drag from which on it turns what was put down
const GRID = 0.25; // m

export function Board({ content, world, parts, selected, wrong, view, put, select }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null), stage = useRef<HTMLDivElement>(null), sketch = useRef<Sketch | null>(null);
  const [tool, setTool] = useState<Tool>("select");
  const [pending, setPending] = useState<Place | null>(null);
  const [model, setModel] = useState("chair");
  const [snap, setSnap] = useState(false);
  const [cross, setCross] = useState(false);
  const work = useRef<Content | null>(null), stale = useRef(true), goal = useRef<Place | null>(null), start = useRef<Place | null>(null);
  const latest = useRef({ content, selected, wrong, pending, cross });
  latest.current = { content, selected, wrong, pending, cross };
  const redraw = () => { stale.current = true; };
  const choose = (next: Tool) => { setTool(next); setPending(null); start.current = goal.current = null; };
  useImperativeHandle(view, () => ({ tool: choose }), []);
  useEffect(redraw);

  useEffect(() => {
    const place = canvas.current!, around = stage.current!, own = new Sketch(place, world, parts);
    sketch.current = own;
    let asked = 0, dressed = false;
    const dress = async () => { await own.dress(DARK.matches ? world.colours.dark : world.colours.light, [world.map]); dressed = true; redraw(); };
    const resize = () => {
      const width = Math.max(1, around.clientWidth), [left, bottom, right, top] = world.extent;
      const height = Math.round(Math.min(width * Math.min(0.85, Math.max(0.5, (top - bottom) / (right - left))), Math.max(300, 0.68 * innerHeight)));
      place.style.height = `${height}px`;
      own.resize(width, height);
      if (own.fitted) own.fit(world.extent);
      redraw();
    };
    const frame = () => {
      asked = requestAnimationFrame(frame);
      if (!dressed || !stale.current) return;
      stale.current = false;
      const now = latest.current, shown = work.current ?? now.content;
      const chosen = now.selected && has(shown, now.selected) ? now.selected : null;
      own.sketch(shown, { selected: chosen, wrong: now.wrong, pending: start.current ?? now.pending, cross: now.cross });
    };
    const sized = new ResizeObserver(resize);
    sized.observe(around);
    DARK.addEventListener("change", dress);
    own.fitted = true;
    resize();
    void dress();
    asked = requestAnimationFrame(frame);
    return () => { cancelAnimationFrame(asked); sized.disconnect(); DARK.removeEventListener("change", dress); };
  }, [world, parts]);

  const snapped = (value: number) => (snap ? Math.round(value / GRID) * GRID : Math.round(value * 100) / 100);
  const spot = ({ x, y }: Finger): [number, number] => { const [a, b] = sketch.current!.at(x, y); return [snapped(a), snapped(b)]; };

  const carried = (shown: Content, part: Part, [x, y]: [number, number]) => movedTo(shown, part, snapped(x + grip.current[0]), snapped(y + grip.current[1]));

  // what a press puts down, at a place of the map; the drag that follows turns or moves it
  const press = (x: number, y: number, hit: Hit | null): Drag | null => {
    const person = selected?.kind === "dynamic" && has(content, selected) ? selected : null;
    switch (tool) {
      case "select":
        select(hit ? hit.part : null);
        work.current = hit ? content : null;
        return hit ?? { pan: true };
      case "robot":
        if (pending) { goal.current = [x, y, Math.atan2(y - pending[1], x - pending[0])]; return { robot: pending, goal: true }; }
        start.current = [x, y, 0];
        return { robot: start.current, goal: false };
      case "person": {
        work.current = added(content, "dynamic", { name: freeName(content, "person"), pos: [x, y], type: "adult" });
        const part: Part = { kind: "dynamic", number: people(work.current).length - 1, key: "pos", k: 0 };
        select(part);
        return { person: part };
      }
      case "thing": {
        work.current = added(content, "static", { name: freeName(content, model), model, pos: [x, y, 0] });
        const part: Part = { kind: "static", number: work.current.obstacles!.static!.length - 1, key: "pos", k: 0 };
        select(part);
        return { thing: part };
      }
      case "way": {
        if (!person) { if (hit?.part.kind === "dynamic") select({ ...hit.part, key: "pos", k: 0 }); return null; }
        const points = people(content)[person.number].waypoints ?? [], one = people(content)[person.number];
        work.current = { ...content, obstacles: { ...content.obstacles, dynamic: people(content).map((other, k) => (k === person.number ? { ...one, waypoints: [...points, [x, y]], waypoint_mode: one.waypoint_mode ?? 2 } : other)) } };
        return { way: { ...person, key: "waypoints", k: points.length } };
      }
      case "partner": {
        if (hit?.part.kind !== "dynamic") return null;
        const other = people(content)[hit.part.number].name;
        if (!person) { select({ ...hit.part, key: "pos", k: 0 }); return null; }
        const mine = people(content)[person.number];
        if (other === mine.name) return null;
        const joined = talkers(content, person.number).some(({ name }) => name === other);
        put(joined ? parted(content, person.number, other) : talksWith(content, person.number, [...partners(mine), other]));
        return null;
      }
    }
  };

  const fingers = useRef(new Map<number, Finger>()), drag = useRef<Drag | null>(null), from = useRef<Finger>({ x: 0, y: 0 }), grip = useRef<[number, number]>([0, 0]);
  const down = (event: PointerEvent) => {
    if (event.button > 1) return;
    const here = { x: event.offsetX, y: event.offsetY };
    canvas.current!.setPointerCapture(event.pointerId);
    fingers.current.set(event.pointerId, here);
    from.current = here;
    setCross(false);
    if (event.button === 1) event.preventDefault();
    if (event.button === 1 || fingers.current.size > 1) { drag.current = { pan: true }; work.current = null; redraw(); return; }
    const hit = sketch.current!.hit(content, selected, here.x, here.y), [x, y] = spot(here);
    const [ax, ay] = sketch.current!.at(here.x, here.y), held = hit ? placeOf(content, hit.part) : [ax, ay];
    grip.current = [held[0] - ax, held[1] - ay];
    drag.current = press(x, y, hit);
    redraw();
  };
  const move = (event: PointerEvent) => {
    const own = sketch.current, before = fingers.current.get(event.pointerId), now = drag.current;
    if (!own || !before) return;
    const here = { x: event.offsetX, y: event.offsetY }, other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
    fingers.current.set(event.pointerId, here);
    if (other) { own.zoom(apart(here, other) / Math.max(1, apart(before, other)), (here.x + other.x) / 2, (here.y + other.y) / 2); redraw(); return; }
    if (!now) return;
    const [x, y] = spot(here), towards = ([a, b]: Place) => Math.atan2(own.at(here.x, here.y)[1] - b, own.at(here.x, here.y)[0] - a), far = apart(here, from.current) > TURNS;
    const shown = work.current ?? content;
    if ("pan" in now) own.pan(here.x - before.x, here.y - before.y);
    else if ("turn" in now) work.current = now.turn ? turnedTo(shown, now.part, towards(placeOf(shown, now.part))) : far || shown !== content ? carried(shown, now.part, own.at(here.x, here.y)) : shown;
    else if ("robot" in now && far) {
      const turned = now.goal ? goal : start;
      turned.current = [turned.current![0], turned.current![1], rounded(towards(turned.current!))];
    } else if ("person" in now && far) work.current = turnedTo(shown, now.person, towards(placeOf(shown, now.person)));
    else if ("thing" in now && far) work.current = turnedTo(shown, now.thing, towards(placeOf(shown, now.thing)));
    else if ("way" in now) work.current = movedTo(shown, now.way, x, y);
    redraw();
  };
  const up = (event: PointerEvent) => {
    fingers.current.delete(event.pointerId);
    const now = drag.current, made = work.current;
    if (fingers.current.size) return;
    drag.current = work.current = null;
    if (now && "robot" in now) putRobot(now.goal);
    else if (made && made !== content) put(made);
    redraw();
  };
  const putRobot = (isGoal: boolean) => {
    if (!isGoal) { setPending(start.current); return; }
    const begin = pending!, end = goal.current!, ahead = Math.atan2(end[1] - begin[1], end[0] - begin[0]);
    put(added(content, "robots", { start: [begin[0], begin[1], rounded(begin[2] || ahead)], goal: [end[0], end[1], rounded(end[2])] }));
    select({ kind: "robots", number: content.robots.length, key: "start", k: 0 });
    choose("select");
  };
  const wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !stage.current!.contains(document.activeElement)) return;
    event.preventDefault();
    sketch.current!.zoom(Math.exp(-0.0015 * event.deltaY), event.offsetX, event.offsetY);
    redraw();
  };
  useEffect(() => {
    const own = canvas.current!;
    own.addEventListener("wheel", wheel, { passive: false });
    return () => own.removeEventListener("wheel", wheel);
  }, []);

  const zoom = (factor: number) => { sketch.current?.zoom(factor); redraw(); };
  const fit = () => { sketch.current?.fit(world.extent); redraw(); };
  const putInTheMiddle = () => {
    const own = sketch.current!, at = { x: own.width / 2, y: own.height / 2 }, [x, y] = spot(at);
    const made = press(x, y, own.hit(content, selected, at.x, at.y));
    if (made && "robot" in made) putRobot(made.goal);
    else if (work.current) { put(work.current); work.current = null; }
    redraw();
  };
  useShortcuts({
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: fit,
    Escape: () => { if (tool === "select") select(null); else choose("select"); },
    ...Object.fromEntries(TOOLS.map((one) => [one.key, () => choose(one.tool)])),
  });
  const onStage = (event: KeyboardEvent) => {
    const own = sketch.current;
    if (event.target !== stage.current || !own) return;
    const pans: Record<string, [number, number]> = { ArrowLeft: [STRIDE, 0], ArrowRight: [-STRIDE, 0], ArrowUp: [0, STRIDE], ArrowDown: [0, -STRIDE] };
    if (event.key === "Enter" && tool !== "select") { event.preventDefault(); setCross(true); putInTheMiddle(); }
    else if (event.key in pans && !(tool === "select" && selected)) { event.preventDefault(); event.stopPropagation(); setCross(tool !== "select"); own.pan(...pans[event.key]); redraw(); }
  };

  return (
    <>
      <div class="bar tools" role="toolbar" aria-label="Tools">
        {TOOLS.map((one) => (
          <button key={one.tool} type="button" aria-pressed={tool === one.tool} title={`${one.words} (${one.key})`} onClick={() => choose(one.tool)}>{one.words} <kbd aria-hidden="true">{one.key}</kbd></button>
        ))}
        {tool === "thing" && <label>Model <select value={model} onChange={(event) => setModel(event.currentTarget.value)}>
          {parts.things.map(({ name }) => <option key={name} value={name}>{name.replaceAll("_", " ")}</option>)}
        </select></label>}
        <label><input type="checkbox" checked={snap} onChange={() => setSnap(!snap)} /> snap to {GRID} m</label>
      </div>
      <p class="hint" role="status">{hint(tool, content, selected, pending !== null)}</p>
      <div class="live-stage moves" ref={stage} tabIndex={0} role="group" aria-label="Map. Arrow keys move the selected element or the view; Enter places an element of the current tool at the centre" onKeyDown={onStage} onBlur={() => setCross(false)}>
        <canvas ref={canvas} class={tool === "select" ? "" : "puts"} role="img" aria-label="Map with robots and people" onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={up} onDblClick={() => { if (tool === "way") choose("select"); }} />
        <div class="live-zoom">
          <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => zoom(1.25)}>+</button>
          <button type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => zoom(0.8)}>−</button>
          <button type="button" title="Show everything (0)" aria-label="Show everything" onClick={fit}>⤢</button>
        </div>
      </div>
    </>
  );
}

/** Move what is selected by keys; nothing where the key does something else. */
export function nudged(content: Content, part: Part, key: string, far: boolean): Content | null {
  const by = far ? 0.5 : 0.1, [x, y] = placeOf(content, part), angle = Math.PI / (far ? 4 : 36);
  const moves: Record<string, [number, number]> = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, by], ArrowDown: [0, -by] };
  if (key in moves) return movedTo(content, part, x + moves[key][0], y + moves[key][1]);
  if (key === "[" || key === "]" || key === "{" || key === "}") return turnedTo(content, part, headingOf(content, part) + (key === "[" || key === "{" ? angle : -angle));
  return null;
}

const apart = (a: Finger, b: Finger) => Math.hypot(a.x - b.x, a.y - b.y);
