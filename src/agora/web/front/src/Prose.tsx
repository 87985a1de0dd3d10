// Text of ours, as docstrings write it: names stand between backticks, paragraphs between empty lines.
import type { ComponentChildren } from "preact";

export function Prose({ text }: { text: string }) {
  const parts: ComponentChildren[] = text.split(/(``[^`]+``|`[^`]+`)/).map((part, k) => (k % 2 ? <code key={k}>{part.replaceAll("`", "")}</code> : part));
  return <>{parts}</>;
}

export function Paragraphs({ text }: { text: string }) {
  const joined = text.replace(/([^\n])\n(?![\n\s*-])/g, "$1 ");
  return <>{joined.split(/\n\s*\n/).map((paragraph, k) => <p key={k} class="said"><Prose text={paragraph} /></p>)}</>;
}
