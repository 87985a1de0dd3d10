// The picture of a live episode: draws at the screen's rate, zooms, pans, follows the robot.
import { useEffect, useImperativeHandle, useRef } from "preact/hooks";
import type { Ref } from "preact";
import { Painter } from "../../../../viewer/templates/painter.js";
import { between, people, pose, trails } from "../../../../viewer/templates/track.js";
import { others } from "./recent";
import type { Content, Stream } from "./stream";
import type { Scene } from "../schemas";

export type Shown = { follow: boolean; scan: boolean; trails: boolean; planned: boolean; ids: boolean };
export type View = { zoom(factor: number): void; fit(): void; pan(x: number, y: number): void };
/** `tall`: largest height, as a share of the window's. */
type Props = { stream: Stream; scene: Scene; shown: Shown; view: Ref<View>; tall: number; onFrame(time: number): void; onMove(): void };

const TRAIL = [2, 0.25]; // how long back, and time between dots, s
const FLASH = 1; // how long a contact flashes, s
const DARK = matchMedia("(prefers-color-scheme: dark)");

export function Canvas({ stream, scene, shown, view, tall, onFrame, onMove }: Props) {
  const place = useRef<HTMLCanvasElement>(null);
  const draw = useRef<() => void>(() => undefined);
  const latest = useRef({ shown, onFrame, onMove });
  latest.current = { shown, onFrame, onMove };
  const painter = useRef<Painter>(null);

  useEffect(() => {
    const canvas = place.current!, stage = canvas.parentElement!, own = new Painter(canvas);
    const surroundings = surroundingsOf(scene);
    painter.current = own;
    let asked = 0, stale = true, dressed = false, painted = stream.moment;
    const dress = async () => {
      await own.dress(DARK.matches ? scene.colours.dark : scene.colours.light, scene.map ? [scene.map] : []);
      dressed = stale = true;
    };
    const resize = () => {
      const [left, bottom, right, top] = scene.extent, width = Math.max(1, stage.clientWidth);
      const height = Math.min(width * Math.min(0.85, Math.max(0.45, (top - bottom) / (right - left))), Math.max(180, tall * innerHeight));
      canvas.style.height = `${Math.round(height)}px`;
      own.resize(width, Math.round(height));
      if (own.fitted) own.fit(scene.extent);
      stale = true;
    };
    const frame = (now: number) => {
      asked = requestAnimationFrame(frame);
      if (!dressed || !(stale || stream.moment !== painted || stream.recent.moving(now))) return;
      stale = stream.recent.moving(now);
      painted = stream.moment;
      const time = stream.recent.shown(now);
      if (!stream.moment) own.drawPlace(surroundings);
      else paint(own, stream, stream.moment, surroundings, latest.current.shown, time);
      latest.current.onFrame(time);
    };
    const sized = new ResizeObserver(resize);
    sized.observe(stage);
    DARK.addEventListener("change", dress);
    draw.current = () => { stale = true; };
    own.fitted = true;
    resize();
    void dress();
    asked = requestAnimationFrame(frame);
    return () => { cancelAnimationFrame(asked); sized.disconnect(); DARK.removeEventListener("change", dress); };
  }, [stream, scene]);

  useEffect(() => draw.current());
  useImperativeHandle(view, () => ({
    zoom: (factor) => { painter.current?.zoom(factor); draw.current(); },
    fit: () => { painter.current?.fit(scene.extent); draw.current(); },
    pan: (x, y) => { painter.current?.pan(x, y); draw.current(); },
  }), [scene]);

  const fingers = useRef(new Map<number, { x: number; y: number }>());
  const move = (event: PointerEvent) => {
    const own = painter.current, known = fingers.current, before = known.get(event.pointerId);
    if (!own || !before) return;
    const here = { x: event.offsetX, y: event.offsetY }, other = [...known].find(([id]) => id !== event.pointerId)?.[1];
    if (other) own.zoom(apart(here, other) / Math.max(1, apart(before, other)), (here.x + other.x) / 2, (here.y + other.y) / 2);
    else { own.pan(here.x - before.x, here.y - before.y); latest.current.onMove(); }
    known.set(event.pointerId, here);
    draw.current();
  };
  const press = (event: PointerEvent) => {
    place.current?.setPointerCapture(event.pointerId);
    fingers.current.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  };
  const turn = (event: WheelEvent) => {
    if (!event.ctrlKey && !place.current?.closest("[tabindex]")?.contains(document.activeElement)) return;
    event.preventDefault();
    painter.current?.zoom(Math.exp(-0.0015 * event.deltaY), event.offsetX, event.offsetY);
    draw.current();
  };
  useEffect(() => {
    const canvas = place.current!;
    canvas.addEventListener("wheel", turn, { passive: false });
    return () => canvas.removeEventListener("wheel", turn);
  }, []);

  return (
    <canvas ref={place} role="img" aria-label="Map with robot and people" onPointerDown={press} onPointerMove={move}
      onLostPointerCapture={(event) => fingers.current.delete(event.pointerId)} onDblClick={() => { painter.current?.fit(scene.extent); draw.current(); }} />
  );
}

const apart = (a: { x: number; y: number }, b: { x: number; y: number }) => Math.hypot(a.x - b.x, a.y - b.y);

type Painted = ReturnType<typeof surroundingsOf>;

function surroundingsOf({ map, door = null, extent, goal, tolerance, radius, outline, states, others: more }: Scene) {
  return { plan: map, door, extent, goal, tolerance, radius, outline, states, route: [], flash: FLASH, radii: more.map((one) => one.radius) };
}

function paint(painter: Painter, { recent: { track, way }, planned, scan }: Stream, moment: Content, scene: Painted, shown: Shown, time: number): void {
  const b = between(track.time, time), robot = pose(track, b);
  if (shown.follow) painter.look(robot.x, robot.y);
  painter.draw(scene, {
    time, robot, people: people(track, b), ids: shown.ids,
    others: others(moment.snapshot, scene.radii),
    trails: shown.trails ? trails(track, time, TRAIL) : [],
    travelled: [...way.slice(0, -1), [robot.x, robot.y]],
    planned: shown.planned ? planned : [],
    scan: shown.scan ? scan : null,
    open: moment.door ?? 1,
    contacts: moment.contacts ?? [],
  });
}
