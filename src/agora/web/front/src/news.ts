// The runs and live episodes of the server, as they change.
import { useEffect, useReducer } from "preact/hooks";
import { get, type Run } from "./api";
import { Socket } from "./socket";
import type { Live } from "./schemas";

class News {
  runs: Run[] | null = null;
  lives: Live[] | null = null;
  lost = false;
  #listeners = new Set<() => void>();
  #socket: Socket | null = null;

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#socket ??= new Socket("/api/events", {
      opened: () => { this.lost = false; void this.refresh(); },
      text: (message) => this.#hear(message as { run?: Run; live?: Live }),
      lost: () => { this.lost = true; this.#tell(); },
    });
    return () => this.#listeners.delete(listener);
  }

  async refresh(): Promise<void> {
    try {
      [this.runs, this.lives] = await Promise.all([get<Run[]>("/api/runs"), get<Live[]>("/api/live")]);
    } catch {
      this.lost = true;
    }
    this.#tell();
  }

  /** Take in a run that is new or has changed. */
  put(run: Run): void {
    const known = this.runs ?? [];
    this.runs = known.some(({ id }) => id === run.id) ? known.map((one) => (one.id === run.id ? run : one)) : [run, ...known];
    this.#tell();
  }

  #hear({ run, live }: { run?: Run; live?: Live }): void {
    if (run) this.put(run);
    if (live) {
      const others = (this.lives ?? []).filter(({ id }) => id !== live.id);
      this.lives = [...others, live];
      this.#tell();
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const news = new News();

export function useNews(): News {
  const [, tell] = useReducer((count: number) => count + 1, 0);
  useEffect(() => news.listen(() => tell(undefined)), []);
  return news;
}
