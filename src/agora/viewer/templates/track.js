// The moments of an episode: samples in columns, and what lies between two of them.

/**
 * @typedef {[number, number, number]} Between sample before a time, sample after it, share of the way
 * @typedef {ArrayLike<number>} Row one number for each sample
 * @typedef {{x: number, y: number, heading: number}} Pose
 * @typedef {Pose & {radius: number, id: number, state: number}} Person state: -1 where nobody knows it
 * @typedef {{id: number, radius: number, present: Row, x: Row, y: Row, heading: Row, state: Row | null}} Walker
 * @typedef {{time: Row, x: Row, y: Row, heading: Row, people: Walker[]}} Track
 * @typedef {{x: number, y: number, radius: number, fade: number}} Dot fade: from 1 now to 0 gone
 */

export const TURN = 2 * Math.PI;

/** @param {Row} time @param {number} s @returns {Between} */
export function between(time, s) {
  let low = 0, high = time.length - 1;
  while (low < high) { const middle = (low + high + 1) >> 1; if (time[middle] <= s + 1e-9) low = middle; else high = middle - 1; }
  const next = Math.min(low + 1, time.length - 1);
  return [low, next, Math.min(1, Math.max(0, (s - time[low]) / Math.max(time[next] - time[low], 1e-9)))];
}

/** @param {Row} row @param {Between} b */
export const mix = (row, [k, j, f]) => row[k] + f * (row[j] - row[k]);
/** @param {Row} row @param {Between} b */
const angle = (row, [k, j, f]) => row[k] + f * (((row[j] - row[k] + 1.5 * TURN) % TURN + TURN) % TURN - TURN / 2);
/** @param {Walker} p @param {Between} b */
const seen = (p, [k, j, f]) => p.present[k] && (p.present[j] || f < 1e-6);

/** @param {{x: Row, y: Row, heading: Row}} rows @param {Between} b @returns {Pose} */
export const pose = (rows, b) => ({ x: mix(rows.x, b), y: mix(rows.y, b), heading: angle(rows.heading, b) });

/** The people present. @param {Track} track @param {Between} b @returns {Person[]} */
export function people(track, b) {
  return track.people.filter((p) => seen(p, b)).map((p) => ({ ...pose(p, b), radius: p.radius, id: p.id, state: p.state ? p.state[b[0]] : -1 }));
}

/** Dots where the people present have been. @param {Track} track @param {number} s @param {number[]} trail how long, and time between dots @returns {Dot[]} */
export function trails(track, s, [longest, step]) {
  const dots = [], now = between(track.time, s);
  for (let back = step; back <= longest + 1e-9 && s - back >= track.time[0]; back += step) {
    const b = between(track.time, s - back), fade = 1 - back / (longest + step);
    for (const p of track.people) if (seen(p, b) && seen(p, now)) dots.push({ x: mix(p.x, b), y: mix(p.y, b), radius: p.radius, fade });
  }
  return dots;
}
