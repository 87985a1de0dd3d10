// Four steps for new users. Once closed, the tour does not appear again.
import type { TargetedPointerEvent } from "preact";
import { useState } from "preact/hooks";
import { useMe } from "./account/me";
import { wordsOf } from "./api";
import { begin, FIRST } from "./live/start";

const KEY = "agora-tour";

/** Keep a press on its button: an episode that begins meanwhile may move the button from under the pointer. */
const hold = (event: TargetedPointerEvent<HTMLElement>) => event.currentTarget.setPointerCapture(event.pointerId);

export function Tour() {
  const [closed, setClosed] = useState(localStorage.getItem(KEY) === "closed");
  const [error, setError] = useState(""), runs = useMe().may("run");
  if (closed) return null;
  const close = () => { localStorage.setItem(KEY, "closed"); setClosed(true); };
  const drive = () => begin({ ...FIRST, drive: true }).catch((problem: unknown) => setError(wordsOf(problem)));
  return (
    <section class="card tour" aria-labelledby="tour">
      <h2 id="tour">New here?</h2>
      <button type="button" class="close" aria-label="Close the tour" onClick={close}>×</button>
      <ol>
        <li><b>Watch.</b> The blue robot drives to the green goal among walking people. Pause, zoom in, follow the robot.</li>
        {runs && <li><b>Drive yourself.</b> Take its place among the people. <button type="button" class="link" onPointerDown={hold} onClick={drive}>Drive now</button></li>}
        {runs && <li><b>Compare two planners</b> on the same 24 episodes; this takes a minute or two. <a href="/run?suite=demo&planner=orca&planner=social_force">Set it up</a></li>}
        <li><b>Read the results:</b> a report with tables, tests and replays. <a href="/results">See results</a></li>
      </ol>
      {error && <p class="bad" role="alert">{error}</p>}
    </section>
  );
}
