// All robots, with their shapes.
import { useGet } from "../api";
import { ListAndDetail } from "./ListAndDetail";
import type { Robot } from "../schemas";

export function Robots({ name }: { name: string }) {
  const { data, error } = useGet<Robot[]>("/api/robots", true);
  const robot = data?.find((one) => one.name === name) ?? (name ? undefined : data?.[0]);
  return (
    <ListAndDetail title="Robots" path="/robots" entries={data?.map((one) => ({ name: one.name, words: `${one.kinematics}, ${one.top_speed.toFixed(2)} m/s` }))} error={error} chosen={robot?.name ?? ""}>
      {robot ? <Detail robot={robot} largest={Math.max(...(data ?? []).map(({ radius }) => radius))} /> : data && <p>There is no robot “{name}”.</p>}
    </ListAndDetail>
  );
}

function Detail({ robot, largest }: { robot: Robot; largest: number }) {
  const { lidar, sensors } = robot;
  return (
    <>
      <h2>{robot.name}</h2>
      <figure><Shape robot={robot} half={largest + 0.2} /><figcaption>From above, heading up, next to a person of 25 cm radius. All robots are drawn to the same scale.</figcaption></figure>
      <dl>
        <dt>Shape</dt><dd>{robot.outline.length ? `polygon of ${robot.outline.length} corners, within ${robot.radius.toFixed(2)} m` : `disc of ${robot.radius.toFixed(2)} m radius`}</dd>
        <dt>Drive</dt><dd>{robot.kinematics}</dd>
        <dt>Top speed</dt><dd>{robot.top_speed.toFixed(2)} m/s</dd>
        <dt>Lidar</dt><dd>{lidar ? `${lidar.beams} beams, ${lidar.range} m` : "none"}</dd>
        {sensors.length > 0 && <><dt>Sensors</dt><dd>{sensors.join(", ")}</dd></>}
      </dl>
    </>
  );
}

function Shape({ robot, half }: { robot: Robot; half: number }) {
  const points = robot.outline.map(([x, y]) => `${-y},${-x}`).join(" "), front = Math.max(robot.radius, 0.1);
  return (
    <svg class="shape" viewBox={`${-half} ${-half} ${2 * half + 1} ${2 * half}`} role="img" aria-label={`${robot.name} from above, next to a person`}>
      {points ? <polygon points={points} class="robot" /> : <circle r={robot.radius} class="robot" />}
      <line x1="0" y1="0" x2="0" y2={-0.8 * front} class="nose" />
      <circle cx={half + 0.5} r="0.25" class="person" />
    </svg>
  );
}
