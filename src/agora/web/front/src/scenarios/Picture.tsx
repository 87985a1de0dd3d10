// A world from above, small.
import { useEffect, useRef } from "preact/hooks";
import { Painter } from "../../../../viewer/templates/painter.js";
import type { World } from "../schemas";

const DARK = matchMedia("(prefers-color-scheme: dark)");
const HEIGHT = 180; // pixels

export function Picture({ world, label }: { world: World; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const own = new Painter(canvas.current!);
    let gone = false;
    const draw = async () => {
      await own.dress(DARK.matches ? world.colours.dark : world.colours.light, [world.map]);
      if (gone) return;
      own.resize(canvas.current!.clientWidth, HEIGHT);
      own.fit(world.extent);
      own.ground(world.map);
      own.ruler();
    };
    void draw();
    DARK.addEventListener("change", draw);
    return () => { gone = true; DARK.removeEventListener("change", draw); };
  }, [world]);
  return <canvas ref={canvas} class="picture" style={{ height: HEIGHT }} role="img" aria-label={label} />;
}
