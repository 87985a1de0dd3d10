// The keys of a drawing board: each does one thing, unless the user types or holds ctrl, alt or meta.
import { useLayoutEffect } from "preact/hooks";
import { types } from "../live/drive";

export function useShortcuts(keys: Record<string, () => void>): void {
  useLayoutEffect(() => { // a key may follow the last one before the browser paints
    const pressed = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      if (event.ctrlKey || event.metaKey || event.altKey || types(target) || !(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
}
