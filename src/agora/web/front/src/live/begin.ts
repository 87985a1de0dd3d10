// Begins live episodes.
import { post, type Live, type LiveForm } from "../api";
import { go } from "../place";

/** Many walkers in a small hall, and an episode that is not over at once. */
export const FIRST: LiveForm = { suite: "density", stage: "people_15", episode: 6, planner: "orca", seed: null, drive: false };

export async function begin(form: LiveForm, { replace = false } = {}): Promise<void> {
  const { id } = await post<Live>("/api/live", form);
  go(`/live/${id}`, { replace });
}
