// The other live episodes: each can be watched, or shown next to the present ones.
import { useNews } from "../news";
import { MOST } from "./start";

export function Others({ ids }: { ids: string[] }) {
  const lives = (useNews().lives ?? []).filter((live) => !ids.includes(live.id) && live.state !== "failed");
  if (!lives.length) return null;
  return (
    <nav class="card" aria-labelledby="others">
      <h2 id="others">Also running</h2>
      <ul class="plain">
        {lives.map(({ id, title, state }) => (
          <li key={id}>
            <a href={`/live/${id}`}>{title}</a> <small>{state}{ids.length < MOST && <>, <a href={`/live/${[...ids, id].join(",")}`} aria-label={`show next to this one: ${title}`}>show next to this one</a></>}</small>
          </li>
        ))}
      </ul>
    </nav>
  );
}
