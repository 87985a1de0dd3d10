// Begins live episodes.
import { post, type Live, type LiveForm } from "../api";
import { go } from "../place";

/** Many walkers in a small hall: good to look at, and quick to begin. */
export const FIRST: LiveForm = { suite: "demo", stage: "hall", episode: 0, planner: "orca", seed: null, drive: false };

export async function begin(form: LiveForm, { replace = false } = {}): Promise<void> {
  const { id } = await post<Live>("/api/live", form);
  go(`/live/${id}`, { replace });
}
