// The meaning of colours and letters; letters are listed as soon as a pedestrian has one.
import { useEffect, useState } from "preact/hooks";
import type { Stream } from "./stream";
import type { Scene } from "../schemas";

const ROLES = [["robot", "robot and its path"], ["pedestrian", "person, last 2 s"], ["goal", "goal and planned path"], ["wall", "wall"], ["contact", "lidar, contact"]];
const OFTEN = 500; // ms between checks of the letters of pedestrians

export function Legend({ stream, scene }: { stream: Stream; scene: Scene }) {
  const [seen, setSeen] = useState<number[]>([]);
  useEffect(() => {
    setSeen([]);
    const look = () => {
      const people = stream.moment?.snapshot.pedestrians;
      if (!people) return;
      const now = Array.from(people.state).filter((state, i) => people.present[i] && scene.states[state]?.[1]);
      setSeen((before) => (now.every((state) => before.includes(state)) ? before : [...new Set([...before, ...now])].sort((a, b) => a - b)));
    };
    const timer = setInterval(look, OFTEN);
    return () => clearInterval(timer);
  }, [stream, scene]);
  return (
    <p class="legend">
      {ROLES.map(([role, words]) => <span key={role}><i class={role} />{words}</span>)}
      {scene.others.length > 0 && <span><i class="others" />other robot</span>}
      {seen.map((state) => <span key={state}><i style={{ background: scene.states[state][0] }} />{scene.states[state][1]} {scene.names[state]}</span>)}
    </p>
  );
}
