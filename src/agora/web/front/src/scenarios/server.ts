// Requests about worlds and scenarios.
import type { Kind, Saved } from "../own/server";
import type { Content } from "./model";
import type { Scenario } from "../schemas";

export type Kept = Omit<Scenario, "content"> & Saved<Content>;

/** Scenarios, as files of one's own. */
export const SCENARIO: Kind<Content> = {
  what: "scenario", api: "/api/scenarios", page: "/scenarios", suffix: ".json",
  is: (content): content is Content => Array.isArray((content as Content | null)?.robots),
};
