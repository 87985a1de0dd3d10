// The keys of the live page. They act on the worlds that are ticked; arrows move the picture of the one that has the focus.
import { useEffect } from "preact/hooks";
import type { Shown, View } from "./Canvas";
import { SPEEDS, standing } from "./Controls";
import { types } from "./drive";
import type { Stream, Wish } from "./stream";

const STRIDE = 60; // an arrow key moves the picture by so many pixels

type Worlds = { streams: Stream[]; ticked: Stream[]; views: Map<Stream, View>; wish(wish: Wish): void; toggle(name: keyof Shown): void; tick(stream: Stream): void };

export function useKeys({ streams, ticked, views, wish, toggle, tick }: Worlds): void {
  useEffect(() => {
    const { over, paused, speed } = standing(ticked), drives = streams.some(({ scene }) => scene?.drive);
    const pace = (by: number) => wish({ do: "speed", value: SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(speed ?? 1) + by))] });
    const look = (how: (view: View) => void) => { for (const one of ticked) { const view = views.get(one); if (view) how(view); } };
    const keys: Record<string, (focused: View | undefined) => void> = {
      ...(over ? {} : { " ": () => wish({ do: paused ? "go" : "pause" }), ".": () => wish({ do: "step" }) }),
      r: () => wish({ do: "again" }), n: () => wish({ do: "next" }), "<": () => pace(-1), ">": () => pace(1), f: () => toggle("follow"), l: () => toggle("scan"),
      "+": () => look((view) => view.zoom(1.25)), "=": () => look((view) => view.zoom(1.25)), "-": () => look((view) => view.zoom(0.8)), 0: () => look((view) => view.fit()),
      ...(drives ? {} : {
        ArrowLeft: (view) => view?.pan(STRIDE, 0), ArrowRight: (view) => view?.pan(-STRIDE, 0), ArrowUp: (view) => view?.pan(0, STRIDE), ArrowDown: (view) => view?.pan(0, -STRIDE),
      }),
      ...(streams.length > 1 ? Object.fromEntries(streams.map((stream, k) => [String(k + 1), () => tick(stream)])) : {}),
    };
    const press = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null, focused = target?.closest<HTMLElement>(".live-stage");
      const used = types(target) || (event.key === " " && target?.closest("button, a, summary, input"));
      const scrolls = event.key.startsWith("Arrow") && !focused;
      if (event.ctrlKey || event.metaKey || event.altKey || used || scrolls || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key](focused ? views.get(streams[Number(focused.dataset.world)]) : undefined);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}
