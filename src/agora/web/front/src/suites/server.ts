// What the server says of suites.
import type { Field } from "../api";
import type { Surroundings } from "../live/stream";
import type { Person, Pose } from "../../../../viewer/templates/track.js";
import type { Point } from "../../../../viewer/templates/painter.js";
import type { Kind, Saved } from "../own/server";
import { isContent, type Content } from "./model";

export type Fault = { key: string; text: string };
export type Checked = { problems: Fault[]; stages: { name: string; count: number }[]; text: string };
export type Kept = Saved<Content> & Checked;
export type Records = Record<string, { text: string; fields: Field[] }>;
export type Beginning = {
  scene: Surroundings & { others: { radius: number; outline: Point[]; goal: number[] }[] }; episode: number; count: number; timeout: number;
  robots: [number, number, number][]; people: (Person & Pose)[]; ways: Point[][]; later: number;
};

/** Suites, as files of one's own. */
export const SUITE: Kind<Content> = { what: "suite", api: "/api/suites/own", page: "/suites", suffix: ".yaml", is: isContent };
