// Driving: which twist keys, a gamepad or a finger ask for, as shares of the robot's limits.
import { useEffect, useRef } from "preact/hooks";

export type Twist = [ahead: number, left: number, turn: number];

const KEYS: Record<string, Twist> = {
  arrowup: [1, 0, 0], w: [1, 0, 0], arrowdown: [-1, 0, 0], s: [-1, 0, 0],
  arrowleft: [0, 0, 1], a: [0, 0, 1], arrowright: [0, 0, -1], d: [0, 0, -1], q: [0, 1, 0], e: [0, -1, 0],
};
const GENTLE = 0.5; // share of the limits that keys ask for without the shift key
const DEAD = 0.12; // share of a stick's way that counts as its middle
const OFTEN = 50; // ms between twists
const RISE = 0.12, FALL = 0.3; // largest change from one twist to the next, away from standing and back

/** Send the pressed keys as commands while `on`; returns the function that takes the commands of a finger. */
export function useDriving(on: boolean, ask: (twist: Twist) => void): (finger: Twist | null) => void {
  const finger = useRef<Twist | null>(null);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (!on) return undefined;
    const held = new Set<string>();
    let fast = false, now: Twist = [0, 0, 0];
    const say = () => {
      const before = now, keys = [...held].map((key) => KEYS[key].map((share) => share * (fast ? 1 : GENTLE)) as Twist);
      now = towards(now, sum(keys, finger.current, stick()));
      if (before.some(Boolean) || now.some(Boolean)) latest.current(now);
    };
    const press = (event: KeyboardEvent) => {
      const key = event.key.toLowerCase();
      fast = event.shiftKey;
      if (!(key in KEYS) || event.ctrlKey || event.metaKey || event.altKey || types(event.target)) return;
      event.preventDefault();
      held.add(key);
    };
    const release = (event: KeyboardEvent) => { fast = event.shiftKey; held.delete(event.key.toLowerCase()); };
    const leave = () => { held.clear(); finger.current = null; now = [0, 0, 0]; latest.current(now); };
    const timer = setInterval(say, OFTEN);
    addEventListener("keydown", press);
    addEventListener("keyup", release);
    addEventListener("blur", leave);
    return () => {
      leave();
      clearInterval(timer);
      removeEventListener("keydown", press);
      removeEventListener("keyup", release);
      removeEventListener("blur", leave);
    };
  }, [on]);
  return (twist) => { finger.current = twist; };
}

/** True where keys are for a form's field. */
export function types(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input:not([type=checkbox]), select, textarea") !== null;
}

/** The first gamepad's left stick drives and turns, its right stick goes sideways. */
function stick(): Twist | null {
  const pad = navigator.getGamepads().find((one) => one !== null);
  if (!pad) return null;
  const axis = (k: number) => { const value = pad.axes[k] ?? 0; return Math.abs(value) < DEAD ? 0 : -value; };
  return [axis(1), axis(2), axis(0)];
}

/** The next twist on the way to a wish: a robot that jumps to its limits cannot be steered by keys. */
function towards(now: Twist, wish: Twist): Twist {
  const next = (k: number) => {
    const most = Math.abs(wish[k]) > Math.abs(now[k]) ? RISE : FALL, change = Math.max(-most, Math.min(most, wish[k] - now[k]));
    return Math.abs(wish[k] - now[k]) <= most ? wish[k] : now[k] + change;
  };
  return [next(0), next(1), next(2)];
}

function sum(keys: Twist[], ...more: (Twist | null)[]): Twist {
  const all = [...keys, ...more.filter((one) => one !== null)];
  const share = (k: number) => Math.max(-1, Math.min(1, all.reduce((total, twist) => total + twist[k], 0)));
  return [share(0), share(1), share(2)];
}
