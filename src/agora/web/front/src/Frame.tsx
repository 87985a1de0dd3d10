// A page that the server made whole, such as a report.

export function Frame({ src, title }: { src: string; title: string }) {
  return (
    <>
      <p><a href={src} target="_blank">Open it in a tab of its own</a></p>
      <iframe class="frame" src={src} title={title} />
    </>
  );
}
