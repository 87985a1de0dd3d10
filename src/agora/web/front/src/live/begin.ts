// Begins live episodes.
import { post, type Live, type LiveForm } from "../api";
import { go } from "../place";

/** Many walkers in a small hall, and an episode that is not over at once. */
export const FIRST: LiveForm = { suite: "density", stage: "people_15", episode: 6, planner: "orca", seed: null, drive: false };

/** Begin an episode and show it; with another driver, begin it twice and show both side by side. */
export async function begin(form: LiveForm, { replace = false, beside = "" } = {}): Promise<void> {
  const forms = beside ? [form, { ...form, planner: beside, drive: false }] : [form];
  const lives = await Promise.all(forms.map((one) => post<Live>("/api/live", one)));
  go(`/live/${lives.map(({ id }) => id).join(",")}`, { replace });
}
