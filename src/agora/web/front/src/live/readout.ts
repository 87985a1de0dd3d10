// The line of numbers below the picture. It changes with every moment, so it is written past the components.
import type { RefObject } from "preact";
import type { Stream } from "./stream";

const OFTEN = 100; // shortest time between two updates of the line, ms

export function readout(stream: Stream, line: RefObject<HTMLElement | null>): (time: number) => void {
  let last = 0, later = 0;
  const write = (time: number) => {
    const moment = stream.moment;
    if (!line.current || !moment) return;
    last = performance.now();
    const { robots, pedestrians } = moment.snapshot, [vx = 0, vy = 0, omega = 0] = Array.from(moment.command ?? []);
    const count = Array.from(pedestrians.present).filter(Boolean).length;
    const sideways = Math.abs(vy) < 0.005 ? "" : `${vy.toFixed(2)} m/s sideways, `;
    const facts: [string, string][] = [
      ["", `${time.toFixed(1)} s`], ["speed ", `${Math.hypot(robots.vx[0], robots.vy[0]).toFixed(2)} m/s`],
      ["command ", `${tidy(vx)} m/s, ${sideways}${tidy(omega)} rad/s`], ["", `${count} ${count === 1 ? "person" : "people"}`],
    ];
    line.current.replaceChildren(...facts.flatMap(([name, value], k) => [k ? " · " : "", name, strong(value)]));
  };
  return (time) => {
    const wait = last + OFTEN - performance.now();
    clearTimeout(later);
    if (wait <= 0) write(time);
    else later = window.setTimeout(write, wait, time); // the last one is written, too
  };
}

const tidy = (value: number) => (Math.abs(value) < 0.005 ? 0 : value).toFixed(2);

function strong(text: string): HTMLElement {
  const element = document.createElement("b");
  element.textContent = text;
  return element;
}
