// The other episodes that run live: each can be watched, or shown beside the first one here.
import { useNews } from "../news";

export function Others({ ids }: { ids: string[] }) {
  const lives = (useNews().lives ?? []).filter((live) => !ids.includes(live.id) && live.state !== "failed");
  if (!lives.length) return null;
  return (
    <nav class="card" aria-labelledby="others">
      <h2 id="others">Also running</h2>
      <ul class="plain">
        {lives.map(({ id, title, state }) => <li key={id}><a href={`/live/${id}`}>{title}</a> <small>{state}, <a href={`/live/${ids[0]},${id}`} aria-label={`show beside: ${title}`}>show beside</a></small></li>)}
      </ul>
    </nav>
  );
}
