// The content of a suite's file as the editor changes it: plain data, in which omitted keys have their defaults.
import type { Field } from "../api";
import type { Component } from "../schemas";

export type Plain = Record<string, unknown>;
export type Content = Plain & { stages: Plain[] };

export const isPlain = (value: unknown): value is Plain => value !== null && typeof value === "object" && !Array.isArray(value);
export const isContent = (content: unknown): content is Content => isPlain(content) && Array.isArray(content.stages) && content.stages.every(isPlain);
export const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The key of a value in a record; `path` is that of the record, empty for the whole file. */
export const below = (path: string, key: string) => (path ? `${path}.${key}` : key);

/** A record with another value of a key, which stands where `order` says; undefined takes the key out. */
export function withKey(record: Plain, key: string, value: unknown, order: string[]): Plain {
  const entries = Object.entries(record).filter(([name]) => name !== key || (value !== undefined && key in record));
  if (value === undefined) return Object.fromEntries(entries);
  if (key in record) return { ...record, [key]: value };
  const later = entries.findIndex(([name]) => order.indexOf(name) > order.indexOf(key));
  entries.splice(later < 0 ? entries.length : later, 0, [key, value]);
  return Object.fromEntries(entries);
}

export const nameOfStage = (stage: Plain | undefined) => (typeof stage?.name === "string" ? stage.name : "");

/** A name like this one that no stage has. */
export function freeName(stages: Plain[], like: string): string {
  const stem = like.replace(/_\d+$/, "") || "stage";
  for (let k = 1; ; k++) {
    const name = k === 1 ? like : `${stem}_${k}`;
    if (name && !stages.some((stage) => stage.name === name)) return name;
  }
}

/** A content with other stages. */
export const withStages = (content: Content, stages: Plain[]): Content => ({ ...content, stages });

/** The stages with one in another place. */
export function moved(stages: Plain[], from: number, to: number): Plain[] {
  const next = [...stages];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}

/** A new component: its name, with the required values, if any. */
export function begun(name: string, component: Component | undefined, first: (field: Field) => unknown): unknown {
  const needed = (component?.fields ?? []).filter(({ required }) => required);
  return needed.length ? { name, ...Object.fromEntries(needed.map((field) => [field.name, first(field)])) } : name;
}

/** A key of a problem in words: the stage by its name, then the rest. */
export function placeIn(content: Content, key: string): { stage: number; words: string } {
  const found = /^stages\[(\d+)\]\.?(.*)$/.exec(key);
  if (!found) return { stage: -1, words: key };
  const stage = Number(found[1]), name = nameOfStage(content.stages[stage]) || `stage ${stage + 1}`;
  return { stage, words: found[2] ? `${name}, ${found[2]}` : name };
}
