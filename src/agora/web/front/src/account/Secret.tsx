// A text that is shown once, to be copied.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

export function Secret({ text, words, note }: { text: string; words: string; note?: ComponentChildren }) {
  const [copied, setCopied] = useState("");
  return (
    <div class="notice-line" role="status">
      <p><b>{words}</b> <code class="command">{text}</code></p>
      {isSecureContext && <button type="button" onClick={() => navigator.clipboard.writeText(text).then(() => setCopied(text))}>Copy</button>} {copied === text && <span class="good">Copied.</span>}
      {note && <p class="faint">{note}</p>}
    </div>
  );
}
