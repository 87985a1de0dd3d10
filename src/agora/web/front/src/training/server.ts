// What the server says of trainings.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, wordsOf, type Field, type Policy, type Result } from "../api";

export type Offered = {
  name: string; label: string; method: string; planner: string; suite: string; stage: string; validation: string; test: string; stages: string[];
  cannot: string; trainer: string; missing: string; took: { steps: number; seconds: number; cpu: string } | null; results: Result[];
};
export type TreeField = Field & { fields: TreeField[] };
export type Asked = { name: string; seeds: number[]; fields: TreeField[] };
export type Point = Record<string, number> & { steps: number };
export type SeedState = { seed: number; begun: boolean; checkpoint: number | null; whole: boolean; results: Result[] };
export type Detail = {
  training: { name: string; method: string; planner: string; suite: string; stage: string; validation: string; test: string; stages: string[]; trainer: { name: string } };
  file: string; seeds: SeedState[]; policy: Policy | null; files: string[];
};
type Part = { version: string; offset: number; points: Point[]; fresh: boolean; more: boolean };

/** What stands at a path, asked again whenever the stamp changes; what was there before stays until then. */
export function useFresh<T>(path: string, stamp: string): { data: T | undefined; error: string } {
  const [found, setFound] = useState<{ data: T | undefined; error: string }>({ data: undefined, error: "" });
  useEffect(() => {
    let gone = false;
    get<T>(path).then((data) => { if (!gone) setFound({ data, error: "" }); }, (error: unknown) => { if (!gone) setFound(({ data }) => ({ data, error: wordsOf(error) })); });
    return () => { gone = true; };
  }, [path, stamp]);
  return found;
}

/** The curves of a run by seed; whenever the stamp changes, the points that are new are read. */
export function useCurves(id: string, seeds: number[], stamp: string): { curves: Map<number, Point[]>; error: string; isRead: boolean } {
  const read = useRef(new Map<number, Part>()), busy = useRef(false), again = useRef(false);
  const [state, setState] = useState({ curves: new Map<number, Point[]>(), error: "", isRead: false });
  const wanted = seeds.join();
  useEffect(() => {
    const one = async (seed: number) => {
      for (let more = true; more;) {
        const before = read.current.get(seed);
        const part = await get<Part>(`/api/runs/${id}/curve/${seed}?version=${before?.version ?? ""}&offset=${before?.offset ?? 0}`);
        read.current.set(seed, part.fresh || !before ? part : { ...part, points: [...before.points, ...part.points] });
        more = part.more;
      }
    };
    const all = async () => {
      busy.current = true;
      try {
        for (const seed of seeds) await one(seed);
        setState({ curves: new Map([...read.current].map(([seed, { points }]) => [seed, points])), error: "", isRead: seeds.length > 0 });
      } catch (problem) {
        setState((before) => ({ ...before, error: wordsOf(problem) }));
      }
      busy.current = false;
      if (again.current) { again.current = false; void all(); }
    };
    if (busy.current) again.current = true;
    else void all();
  }, [id, wanted, stamp]);
  return state;
}
