// A page that the server made whole, such as a report.
import { useState } from "preact/hooks";

export function ReportFrame({ src, title }: { src: string; title: string }) {
  const [there, setThere] = useState("");
  return (
    <>
      <p class="bar"><a href={src} target="_blank">Open in a new tab</a> {there !== src && <span class="faint" role="status">It is being created …</span>}</p>
      <iframe class="frame" src={src} title={title} onLoad={() => setThere(src)} />
    </>
  );
}
