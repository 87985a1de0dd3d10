// A searchable list, with the chosen entry next to it.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

export type Entry = { name: string; words: string; tag?: string };
type Props = { title: string; path: string; entries: Entry[] | undefined; error: string; chosen: string; children: ComponentChildren };

export function ListAndDetail({ title, path, entries, error, chosen, children }: Props) {
  const [find, setFind] = useState("");
  const wanted = find.trim().toLowerCase(), shown = (entries ?? []).filter(({ name, words }) => `${name} ${words}`.toLowerCase().includes(wanted));
  return (
    <>
      <h1>{title}</h1>
      {error && <p class="bad" role="alert">{error}</p>}
      <div class="beside">
        <nav aria-label={title}>
          <label class="find">Find <input type="search" value={find} placeholder="name or words" onInput={(event) => setFind(event.currentTarget.value)} /></label>
          <ul class="plain list">
            {shown.map(({ name, words, tag }) => (
              <li key={name}><a href={`${path}/${encodeURIComponent(name)}`} aria-current={name === chosen ? "page" : undefined}><b>{name}</b> {tag && <i class="tag">{tag}</i>}<small>{words}</small></a></li>
            ))}
          </ul>
          {entries && !shown.length && <p class="faint">Nothing has “{find}” in its name or text.</p>}
        </nav>
        <section aria-live="polite">{children}</section>
      </div>
    </>
  );
}
