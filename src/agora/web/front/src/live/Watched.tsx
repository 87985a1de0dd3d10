// Live episodes that are watched, with their controls: one, or up to four side by side, on which controls and keys act together.
import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { useMe } from "../account/me";
import { go } from "../router";
import type { Shown, View } from "./Canvas";
import { Controls } from "./Controls";
import { useKeys } from "./keys";
import { Legend } from "./Legend";
import { Stream, type Wish } from "./stream";
import { World } from "./World";
import type { Live } from "../schemas";

const SHOWN: Shown = { follow: false, scan: false, trails: true, planned: true, ids: false };
const OFTEN = 100; // ms between looks whether all worlds run that are to begin together

/** `ids`: of the live episodes. `together`: they were started for this page, and restart together once all of them run. `tell` gets the first. */
export function Watched({ ids, together, tell }: { ids: string[]; together: boolean; tell: (first: Live | null) => void }) {
  const [, changed] = useReducer((count: number) => count + 1, 0);
  const [streams, setStreams] = useState<Stream[]>([]), [out, setOut] = useState<ReadonlySet<Stream>>(new Set());
  const [shown, setShown] = useState(SHOWN), views = useRef(new Map<Stream, View>());
  useEffect(() => {
    const own = ids.map((id) => new Stream(id, () => changed(undefined)));
    setStreams(own);
    const timer = together ? window.setInterval(() => {
      if (!own.every(({ recent, ending, over }) => recent.newest > 0 || ending !== null || over)) return;
      clearInterval(timer);
      for (const stream of own) if (!stream.scene?.drive) stream.wish({ do: "again" }); // the driver's began with the first key
      go(location.pathname, { replace: true });
    }, OFTEN) : 0;
    return () => { clearInterval(timer); for (const stream of own) stream.close(); };
  }, []);
  const { owns } = useMe(), ticked = streams.filter((stream) => !out.has(stream)), many = ids.length > 1;
  const mine = ticked.filter(({ live }) => live !== null && owns(live.owner));
  const wish = (one: Wish) => {
    for (const stream of mine) if (stream.ending === null || one.do !== "step") stream.wish(one); // a step would restart an episode that has ended
  };
  const toggle = (name: keyof Shown) => setShown((before) => ({ ...before, [name]: !before[name] }));
  const tick = (stream: Stream) => setOut((before) => new Set(before.has(stream) ? [...before].filter((one) => one !== stream) : [...before, stream]));
  useKeys({ streams, ticked, views: views.current, wish, toggle, tick });
  const world = (stream: Stream, at: number) => (
    <World stream={stream} at={at} many={ids.length} shown={shown} view={(view) => { if (view) views.current.set(stream, view); else views.current.delete(stream); }}
      onMove={() => setShown((before) => (before.follow ? { ...before, follow: false } : before))} />
  );
  const first = streams[0], drives = streams.some(({ scene }) => scene?.drive);
  useEffect(() => tell(first?.live ?? null), [first?.live]);
  return (
    <>
      {many && (
        <header class="live-all">
          <h1>{ids.length} worlds side by side</h1>
          <p role="status">Buttons and keys act on {!ticked.length ? "no world: select one" : ticked.length === streams.length ? `all ${streams.length} worlds` : `the ticked ${ticked.length === 1 ? "one" : ticked.length}: ${ticked.map((one) => streams.indexOf(one) + 1).join(", ")}`}.</p>
          <Controls streams={mine} shown={shown} toggle={toggle} wish={wish} />
        </header>
      )}
      {streams.map((stream, k) => (
        <section key={ids[k]} class={many && out.has(stream) ? "live-world out" : "live-world"} aria-label={many ? `Live episode ${k + 1}` : "Live episode"}>
          {many
            ? (
              <div class="world-head">
                <label><input type="checkbox" checked={!out.has(stream)} onChange={() => tick(stream)} /> <b>{k + 1}</b> <h2>{titleOf(stream)}</h2></label>
                <a href={`/live/${ids.filter((_, at) => at !== k).join(",")}`} aria-label={`Remove world ${k + 1}`}>×</a>
              </div>
            )
            : <h1>{titleOf(stream)}</h1>}
          {world(stream, k)}
          {!many && <Controls streams={mine} shown={shown} toggle={toggle} wish={wish} />}
          {!many && <Below stream={stream} drives={drives} many={many} />}
        </section>
      ))}
      {many && first && <div class="live-below"><Below stream={first} drives={drives} many={many} /></div>}
    </>
  );
}

const titleOf = ({ scene, live }: Stream) => scene?.title ?? live?.title ?? "Live";

function Below({ stream, drives, many }: { stream: Stream; drives: boolean; many: boolean }) {
  return (
    <>
      {stream.scene && <Legend stream={stream} scene={stream.scene} />}
      <details class="keys">
        <summary>Keys</summary>
        <p>{many && <><kbd>1</kbd> to <kbd>4</kbd> select or deselect a world; for the selected worlds: </>}<kbd>space</kbd> pause or continue, <kbd>.</kbd> one step, <kbd>r</kbd> again, <kbd>n</kbd> next, <kbd>&lt;</kbd> <kbd>&gt;</kbd> speed, <kbd>f</kbd> follow the robot,
          <kbd>l</kbd> lidar, <kbd>+</kbd> <kbd>−</kbd> <kbd>0</kbd> zoom; {drives ? "" : "arrows or "}dragging moves the picture{many && " that is selected"}, the wheel zooms after a click on the picture.</p>
      </details>
    </>
  );
}
