// Text of ours, as docstrings write it: names stand between backticks.
import type { ComponentChildren } from "preact";

export function Said({ text }: { text: string }) {
  const parts: ComponentChildren[] = text.split(/(``[^`]+``|`[^`]+`)/).map((part, k) => (k % 2 ? <code key={k}>{part.replaceAll("`", "")}</code> : part));
  return <>{parts}</>;
}
