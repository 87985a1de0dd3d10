// The data of the forms of a suite: records, components, names, and problems by key.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Kinds } from "../api";
import type { Records } from "./server";
import type { ScenarioEntry } from "../schemas";

export type SuiteSurroundings = { records: Records; kinds: Kinds; robots: string[]; worlds: string[]; scenarios: ScenarioEntry[]; wrong: Map<string, string[]> };

export const SuiteContext = createContext<SuiteSurroundings>({ records: {}, kinds: {}, robots: [], worlds: [], scenarios: [], wrong: new Map() });
export const useSuiteContext = () => useContext(SuiteContext);

/** True where something is wrong at a key or below it. */
export const isWrong = ({ wrong }: SuiteSurroundings, path: string) => [...wrong.keys()].some((key) => key === path || key.startsWith(`${path}.`) || key.startsWith(`${path}[`));
