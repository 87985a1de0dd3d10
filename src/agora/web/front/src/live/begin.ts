// Begins live episodes.
import { post, type Live, type LiveForm } from "../api";
import { go } from "../place";

/** Many walkers in a small hall, and an episode that is not over at once. */
export const FIRST: LiveForm = { suite: "density", stage: "people_15", episode: 6, planner: "orca", seed: null, drive: false };

type Manner = { replace?: boolean; beside?: string; unless?: AbortSignal };

/** Begin an episode and show it, `unless` the person has gone elsewhere meanwhile; with another driver, begin it twice and show both side by side. */
export async function begin(form: LiveForm, { replace = false, beside = "", unless }: Manner = {}): Promise<void> {
  const forms = beside ? [form, { ...form, planner: beside, drive: false }] : [form];
  const lives = await Promise.all(forms.map((one) => post<Live>("/api/live", one)));
  if (!unless?.aborted) go(`/live/${lives.map(({ id }) => id).join(",")}`, { replace });
}
