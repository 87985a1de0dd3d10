// The replay of an episode.
import type { Run } from "../api";
import { Frame } from "../Frame";

export function Replay({ run, episode }: { run: Run; episode: string }) {
  return (
    <>
      <p class="bar">
        <a href={`/results/${run.id}/rows`}>‹ All episodes</a>
        <a href={`/api/runs/${run.id}/mcap?key=${encodeURIComponent(episode)}`} download>MCAP file for Foxglove</a>
      </p>
      <h2>{episode}</h2>
      <Frame src={`/api/runs/${run.id}/replay?key=${encodeURIComponent(episode)}`} title={`Replay of ${episode}`} />
    </>
  );
}
