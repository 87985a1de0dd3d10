// Lines of a chart, made of the points of curves.
import type { Point } from "./server";

export type Line = { name: string; seed: number; dots: boolean; points: [number, number][] };
export type Plot = { title: string; unit: string; share: boolean; lines: Line[] };

const MOST = 400; // points of a line; of more, means of neighbours are drawn
const NAMES: Record<string, [string, string]> = {
  gain: ["Reward per episode", ""], length: ["Steps per episode", "steps"], validation_seconds: ["Mean time to the goal in validation", "s"],
  collisions: ["Collisions", "%"], left_map: ["Left the map", "%"], timeouts: ["Timeouts", "%"], teacher_drives: ["Driven by the teacher", "%"],
  pedestrian_collision: ["Collisions with people", "%"], timeout: ["Timeouts", "%"], wall_collision: ["Collisions with walls", "%"], clipped: ["Clipped", "%"],
};
const APART = ["steps", "seconds", "success", "reached", "validation_success"];

export const titleOf = (key: string) => NAMES[key]?.[0] ?? (key[0] ?? "").toUpperCase() + key.slice(1).replaceAll("_", " ");

/** The share of successes, in training episodes and in validations. */
export function successPlot(curves: Map<number, Point[]>): Plot {
  const lines = [...curves].flatMap(([seed, points]) => [
    line(`seed ${seed}, training episodes`, seed, points, (point) => point["success"] ?? point["reached"], false),
    line(`seed ${seed}, validation`, seed, points, (point) => point["validation_success"], true),
  ]);
  return { title: "Success", unit: "%", share: true, lines: lines.filter(({ points }) => points.length) };
}

/** One measure of all seeds. */
export function plotOf(curves: Map<number, Point[]>, key: string): Plot {
  const unit = NAMES[key]?.[1] ?? "", lines = [...curves].map(([seed, points]) => line(`seed ${seed}`, seed, points, (point) => point[key], key.startsWith("validation")));
  return { title: titleOf(key), unit, share: unit === "%", lines: lines.filter(({ points }) => points.length) };
}

/** The measures of points besides successes, the reward first. */
export function measures(curves: Map<number, Point[]>): string[] {
  const found = new Set<string>();
  for (const points of curves.values()) for (const point of points) for (const key of Object.keys(point)) found.add(key);
  return [...found].filter((key) => !APART.includes(key)).sort((a, b) => Number(b === "gain") - Number(a === "gain"));
}

function line(name: string, seed: number, points: Point[], value: (point: Point) => number | undefined, dots: boolean): Line {
  const all = points.flatMap((point): [number, number][] => { const found = value(point); return found === undefined ? [] : [[point.steps, found]]; });
  return { name, seed, dots, points: dots ? all : thinned(all) };
}

function thinned(points: [number, number][]): [number, number][] {
  const width = Math.ceil(points.length / MOST);
  if (width <= 1) return points;
  return Array.from({ length: Math.ceil(points.length / width) }, (_, k) => {
    const some = points.slice(k * width, (k + 1) * width);
    return [some.at(-1)![0], some.reduce((sum, [, y]) => sum + y, 0) / some.length];
  });
}

/** Round numbers from least to most. */
export function ticks(least: number, most: number, count: number): number[] {
  const raw = (most - least) / count || 1, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((m) => m * power).find((one) => one >= raw)!;
  const first = Math.ceil(least / step - 1e-9);
  return Array.from({ length: Math.max(1, Math.floor(most / step + 1e-9) - first + 1) }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}

export const short = (value: number) => Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value);

/** A value with its unit, in a few digits. */
export function said(value: number, { unit, share }: { unit: string; share: boolean }): string {
  if (share) return `${(100 * value).toFixed(1)} %`;
  const text = Number.isInteger(value) || Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
  return unit ? `${text} ${unit}` : text;
}
