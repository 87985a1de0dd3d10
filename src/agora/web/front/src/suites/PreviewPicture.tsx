// The picture of an episode as it begins: the server puts it together, nothing is run.
import { useEffect, useRef, useState } from "preact/hooks";
import { Painter } from "../../../../viewer/templates/painter.js";
import { post, wordsOf } from "../api";
import { withStages, type Content, type Plain } from "./model";
import type { Preview } from "../schemas";

const LOOKS = 500; // ms after an edit at which the server is asked
const DARK = matchMedia("(prefers-color-scheme: dark)");

type Props = { content: Content; stage: Plain; episode: number; put(episode: number): void };

export function PreviewPicture({ content, stage, episode, put }: Props) {
  const [seen, setSeen] = useState<Preview | null>(null), [error, setError] = useState(""), [stale, setStale] = useState(true);
  const asked = JSON.stringify({ content: withStages(content, [stage]), stage: stage.name, episode });
  useEffect(() => {
    let gone = false;
    setStale(true);
    const timer = setTimeout(() => {
      post<Preview>("/api/suites/preview", JSON.parse(asked)).then(
        (found) => { if (!gone) { setSeen(found); setError(""); setStale(false); } },
        (problem: unknown) => { if (!gone) { setError(wordsOf(problem).replace(/suite: stages\[0\](\.|: )/g, "")); setStale(false); } },
      );
    }, LOOKS);
    return () => { gone = true; clearTimeout(timer); };
  }, [asked]);
  const count = seen?.count ?? 1, now = seen?.people.length ?? 0;
  return (
    <section class="card beginning" aria-labelledby="beginning" aria-busy={stale}>
      <h2 id="beginning">Episode {seen ? seen.episode : episode} <small>of 0 to {count - 1}, at its start</small></h2>
      <div class={stale && seen ? "stale" : ""}>{seen && !error && <Picture seen={seen} />}</div>
      {error ? <p class="bad" role="alert">{error}</p> : seen
        ? <p class="faint">{now} {now === 1 ? "person" : "people"}{seen.later > 0 && `, ${seen.later} who ${seen.later === 1 ? "comes" : "come"} later`}; time limit {seen.timeout} s{stale && " · redrawing …"}</p>
        : <p class="faint" role="status">Drawing …</p>}
      <p class="bar-part">
        <button type="button" disabled={count < 2} onClick={() => put((episode + count - 1) % count)}>Previous episode</button>
        <button type="button" disabled={count < 2} onClick={() => put((episode + 1) % count)}>Next episode</button>
      </p>
    </section>
  );
}

function Picture({ seen: { scene, robots, people, ways } }: { seen: Preview }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const place = canvas.current!, own = new Painter(place);
    let gone = false;
    const draw = async () => {
      await own.dress(DARK.matches ? scene.colours.dark : scene.colours.light, scene.map ? [scene.map] : []);
      if (gone) return;
      const [left, bottom, right, top] = scene.extent, width = Math.max(1, place.clientWidth);
      const height = Math.round(width * Math.min(0.8, Math.max(0.35, (top - bottom) / (right - left))));
      place.style.height = `${height}px`;
      own.resize(width, height);
      own.fit(scene.extent);
      own.drawPlace({ ...scene, plan: scene.map, door: scene.door ?? null, route: [], flash: 1 });
      for (const { goal } of scene.others) own.goal({ goal, tolerance: scene.tolerance });
      own.pen.globalAlpha = 0.4;
      for (const way of ways) own.line(way, own.colours.pedestrian, 1);
      own.pen.globalAlpha = 1;
      own.people(scene, people);
      robots.forEach(([x, y, heading], k) => own.robot(k ? scene.others[k - 1] : scene, { x, y, heading }));
      own.ruler();
    };
    const sized = new ResizeObserver(() => void draw());
    sized.observe(place.parentElement!);
    DARK.addEventListener("change", draw);
    return () => { gone = true; sized.disconnect(); DARK.removeEventListener("change", draw); };
  }, [scene, robots, people, ways]);
  return <canvas ref={canvas} class="picture" role="img" aria-label="The episode from above: walls, robot, goal, people and their paths" />;
}
