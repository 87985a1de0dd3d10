// Expectations of a requested run: its time, and the differences that it can show.
import type { Run } from "../api";

const FEWEST = 6; // pairs of episodes of which a sign-flip test at 5 % can tell two planners apart
const POWER = 2.8; // standard errors of a difference that 8 of 10 runs find
const NEWEST = 5; // finished runs that count for the pace

type Asked = { each: number; total: number; compared: boolean; runs: Run[] };

export function expected({ each, total, compared, runs }: Asked): string {
  return [time(total, runs), compared && certainty(each)].filter(Boolean).join(" ");
}

/** The time at the pace of the newest runs; longer episodes and other planners have another one. */
function time(total: number, runs: Run[]): string {
  const over = runs.filter(({ kind, state, done, started, ended }) => kind === "bench" && state === "finished" && done > 1 && started && ended).slice(0, NEWEST);
  const spent = over.reduce((sum, { started, ended }) => sum + (Date.parse(ended ?? "") - Date.parse(started ?? "")) / 1000, 0), done = over.reduce((sum, run) => sum + run.done, 0);
  if (!done) return "";
  const seconds = (total * spent) / done;
  return `At the speed of recent runs, this takes about ${seconds < 90 ? `${Math.max(5, 5 * Math.round(seconds / 5))} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`}.`;
}

/** The difference of the shares that reached the goal which so many pairs can show, where half of all episodes reach it. */
function certainty(pairs: number): string {
  if (pairs < FEWEST) return `So few episodes cannot distinguish planners: use at least ${FEWEST} per planner, better 20.`;
  const points = Math.min(100, 100 * POWER * Math.sqrt(0.5 / pairs));
  return `${pairs} episodes per planner show a difference in success rate of about ${Math.round(points / 5) * 5} percentage points or more; smaller differences need more episodes.`;
}
