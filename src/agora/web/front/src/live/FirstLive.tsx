// The first page: a running episode, or a new one.
import { useLayoutEffect, useState } from "preact/hooks";
import { get, wordsOf } from "../api";
import { useMe } from "../account/me";
import { useNews } from "../news";
import { go } from "../router";
import { begin, FIRST } from "./start";
import type { Live } from "../schemas";

export function FirstLive() {
  const lives = useNews().lives, [error, setError] = useState(""), { may, owns } = useMe(), starts = may("run");
  // A layout effect is undone when this page goes, another effect only after the next paint: until then the first episode would replace one that was begun meanwhile.
  useLayoutEffect(() => {
    const leaving = new AbortController();
    const open = async () => {
      const running = (await get<Live[]>("/api/live")).findLast(({ state, form, owner }) => state === "running" && !form.drive && (!starts || owns(owner)));
      if (!running && !starts) return;
      if (!running) await begin(FIRST, { replace: true, unless: leaving.signal });
      else if (!leaving.signal.aborted) go(`/live/${running.id}`, { replace: true });
    };
    open().catch((problem: unknown) => setError(wordsOf(problem)));
    return () => leaving.abort();
  }, [starts ? 0 : lives?.length]);
  return (
    <section class="live-world" aria-label="Live episode">
      <h1>Live</h1>
      <div class="live-stage"><div class="live-empty" /><div class="live-words" role="status">
        <p class={error ? "notice bad" : "notice"}>{error || (starts ? "Starting an episode with people …" : <>No episode is running. When someone starts one, it is shown here. Meanwhile, see the <a href="/results">results</a>.</>)}</p>
      </div></div>
    </section>
  );
}
