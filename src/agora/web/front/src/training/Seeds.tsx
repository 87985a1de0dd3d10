// The seeds of a training: their checkpoints, validations and tests.
import type { Point } from "./server";
import { said } from "./series";
import type { SeedProgress, TrainingProgress } from "../schemas";

const SHARE = { unit: "%", share: true }, SECONDS = { unit: "s", share: false };

export function Seeds({ detail, curves, running }: { detail: TrainingProgress; curves: Map<number, Point[]>; running: boolean }) {
  const now = detail.seeds.find((one) => one.begun && !one.whole)?.seed;
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Seeds"><table>
        <thead><tr><th class="number">Seed</th><th>State</th><th class="number">Steps</th><th class="number">Checkpoint after</th><th class="number">Best in validation</th><th class="number">Test: reached</th></tr></thead>
        <tbody>
          {detail.seeds.map((one) => {
            const points = curves.get(one.seed) ?? [], top = best(points), test = one.results[0] ?? tested(detail, one);
            return (
              <tr key={one.seed}>
                <th scope="row" class="number">{one.seed}</th>
                <td>{one.whole ? "complete" : !one.begun ? "waiting" : running && one.seed === now ? "training" : "stopped"}</td>
                <td class="number">{(points.at(-1)?.steps ?? 0).toLocaleString("en")}</td>
                <td class="number">{one.checkpoint === null ? "none yet" : `${one.checkpoint.toLocaleString("en")} steps`}</td>
                <td class="number">{top ? `${said(top["validation_success"]!, SHARE)} at ${top.steps.toLocaleString("en")}` : "none yet"}</td>
                <td class="number">{test ? `${((100 * test.reached) / test.episodes).toFixed(1)} % of ${test.stage}` : "–"}</td>
              </tr>
            );
          })}
        </tbody>
      </table></div>
      <p class="faint">Training continues from the checkpoint. The policy is the one with the best validation result on {detail.training.suite}, {detail.training.validation}.</p>
      {detail.seeds.map(({ seed }) => <Validations key={seed} seed={seed} points={curves.get(seed) ?? []} />)}
    </>
  );
}

function Validations({ seed, points }: { seed: number; points: Point[] }) {
  const found = points.filter((point) => "validation_success" in point), top = best(points);
  if (!found.length) return null;
  return (
    <details>
      <summary>{found.length} {found.length === 1 ? "validation" : "validations"} of seed {seed}</summary>
      <div class="scroll tall" tabIndex={0} role="region" aria-label={`Validations of seed ${seed}`}><table>
        <thead><tr><th class="number">Steps</th><th class="number">Reached</th><th class="number">Mean time</th><th>Kept</th></tr></thead>
        <tbody>{found.map((point, k) => <tr key={k}><th scope="row" class="number">{point.steps.toLocaleString("en")}</th><td class="number">{said(point["validation_success"]!, SHARE)}</td><td class="number">{point["validation_seconds"] === undefined ? "–" : said(point["validation_seconds"], SECONDS)}</td><td>{point === top ? "as the policy" : ""}</td></tr>)}</tbody>
      </table></div>
    </details>
  );
}

/** The validation whose policy is kept: the first of the best, the quicker of equals. */
function best(points: Point[]): Point | undefined {
  const score = (point: Point) => [point["validation_success"]!, -(point["validation_seconds"] ?? 1e9)] as const;
  return points.filter((point) => "validation_success" in point).reduce<Point | undefined>((top, point) => {
    if (!top) return point;
    const [a, b] = score(point), [c, d] = score(top);
    return a > c || (a === c && b > d) ? point : top;
  }, undefined);
}

const tested = ({ policy }: TrainingProgress, { seed }: SeedProgress) => policy?.card?.seeds.find((one) => one.seed === seed)?.results[0];
