// Requests about trainings.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, wordsOf } from "../api";
import type { CurvePart } from "../schemas";

export type Point = CurvePart["points"][number];

/** The response at a path, requested again whenever the stamp changes; the previous response stays until then. */
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
  const read = useRef(new Map<number, CurvePart>()), busy = useRef(false), again = useRef(false);
  const [state, setState] = useState({ curves: new Map<number, Point[]>(), error: "", isRead: false });
  const wanted = seeds.join();
  useEffect(() => {
    const one = async (seed: number) => {
      for (let more = true; more;) {
        const before = read.current.get(seed);
        const part = await get<CurvePart>(`/api/runs/${id}/curve/${seed}?version=${before?.version ?? ""}&offset=${before?.offset ?? 0}`);
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
