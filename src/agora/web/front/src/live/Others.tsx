// The other episodes that run live.
import { useNews } from "../news";

export function Others({ id }: { id: string }) {
  const lives = (useNews().lives ?? []).filter((live) => live.id !== id && live.state !== "failed");
  if (!lives.length) return null;
  return (
    <nav class="card" aria-labelledby="others">
      <h2 id="others">Also running</h2>
      <ul class="plain">{lives.map((live) => <li key={live.id}><a href={`/live/${live.id}`}>{live.title}</a> <small>{live.state}</small></li>)}</ul>
    </nav>
  );
}
