// A stick on the screen, for fingers.
import { useState } from "preact/hooks";
import type { Twist } from "./drive";

export function Pad({ ask }: { ask(twist: Twist | null): void }) {
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  const put = (event: PointerEvent) => {
    const pad = event.currentTarget as HTMLElement, half = pad.clientWidth / 2;
    if (!pad.hasPointerCapture(event.pointerId)) return;
    const x = (event.offsetX - half) / half, y = (event.offsetY - half) / half, far = Math.max(1, Math.hypot(x, y));
    setAt({ x: x / far, y: y / far });
    ask([-y / far, 0, -x / far]);
  };
  const press = (event: PointerEvent) => { (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId); put(event); };
  return (
    <div class="pad" aria-hidden="true" onPointerDown={press} onPointerMove={put} onLostPointerCapture={() => { setAt(null); ask(null); }}>
      <i style={at ? { transform: `translate(${2.6 * at.x}rem, ${2.6 * at.y}rem)` } : {}} />
    </div>
  );
}
