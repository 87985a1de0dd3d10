// The address of the current page. Links are ordinary ones: `follow` prevents a reload.
import { useEffect, useState } from "preact/hooks";

const CHANGED = "agora-place";

export function go(address: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  dispatchEvent(new Event(CHANGED));
  if (!replace) scrollTo(0, 0);
}

export function useLocation(): URL {
  const [place, setPlace] = useState(location.href);
  useEffect(() => {
    const changed = () => setPlace(location.href);
    addEventListener("popstate", changed);
    addEventListener(CHANGED, changed);
    return () => { removeEventListener("popstate", changed); removeEventListener(CHANGED, changed); };
  }, []);
  return new URL(place);
}

/** Show a page of ours in place of this one; clicks that ask for a new tab, and links to the server's files, are left to the browser. */
export function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || link.target || link.hasAttribute("download") || link.origin !== location.origin || link.pathname.startsWith("/api/")) return;
  event.preventDefault();
  go(link.href);
}
