// The replay of an episode.
import { useEffect, useRef } from "preact/hooks";
import type { Run } from "../api";
import { ReportFrame } from "../ReportFrame";

export function Replay({ run, episode }: { run: Run; episode: string }) {
  const bar = useRef<HTMLParagraphElement>(null);
  useEffect(() => bar.current?.scrollIntoView(), [episode]);
  return (
    <>
      <p class="bar" ref={bar}>
        <a href={`/results/${run.id}/rows`}>‹ All episodes</a>
        <a href={`/api/runs/${run.id}/mcap?key=${encodeURIComponent(episode)}`} download>MCAP file for Foxglove</a>
      </p>
      <h2 class="hidden">{episode}</h2>
      <ReportFrame src={`/api/runs/${run.id}/replay?key=${encodeURIComponent(episode)}`} title={`Replay of ${episode}`} />
    </>
  );
}
