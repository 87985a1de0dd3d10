// Begins live episodes.
import { post, remove, type LiveForm } from "../api";
import { go } from "../router";
import type { Live } from "../schemas";

/** Many walkers in a small hall, and an episode that is not over at once. */
export const FIRST: LiveForm = { suite: "density", stage: "people_15", episode: 6, planner: "orca", seed: null, drive: false };

/** So many live episodes are shown side by side at most. */
export const MOST = 4;

/** `beside`: other forms, shown side by side with the first. `instead`: live episodes that may end for these, if no other user watches them. */
type Manner = { replace?: boolean; beside?: LiveForm[]; instead?: string[]; unless?: AbortSignal };

/** Start episodes and show them side by side, `unless` the user has left the page. Either all start, or none. */
export async function begin(form: LiveForm, { replace = false, beside = [], instead = [], unless }: Manner = {}): Promise<void> {
  const path = instead.length ? `/api/live?instead=${instead.join(",")}` : "/api/live";
  const begun = await Promise.allSettled([form, ...beside].slice(0, MOST).map((one) => post<Live>(path, one)));
  const lives = begun.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])), failed = begun.find((one) => one.status === "rejected");
  if (failed) {
    await Promise.allSettled(lives.map(({ id }) => remove(`/api/live/${id}`)));
    throw failed.reason;
  }
  if (!unless?.aborted) go(`/live/${lives.map(({ id }) => id).join(",")}${lives.length > 1 ? "?together" : ""}`, { replace });
}
