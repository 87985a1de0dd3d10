// Requests about suites.
import type { Kind, Saved } from "../own/server";
import { isContent, type Content } from "./model";
import type { Component, SuiteCheck } from "../schemas";

export type Kept = Saved<Content> & SuiteCheck;
export type Records = Component["records"];

/** Suites, as files of one's own. */
export const SUITE: Kind<Content> = { what: "suite", api: "/api/suites/own", page: "/suites", suffix: ".yaml", is: isContent };
