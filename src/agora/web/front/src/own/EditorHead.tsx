// The head of an editor: the name of the file, its state, and the choices if another user has changed it.
import type { ComponentChildren } from "preact";
import { useMe } from "../account/me";
import type { Editing } from "./editing";

type Props<T> = { editing: Editing<T>; more?: ComponentChildren };

export function EditorHead<T>({ editing, more }: Props<T>) {
  const { name, kind, history, dirty, state, trouble, older, again, owner, mine, act, save } = editing, { me, may } = useMe();
  const words = state === "saving" ? "saving …" : older ? "not saved: another user changed it" : state === "failed" ? "not saved" : dirty ? "unsaved edits" : "saved";
  return (
    <>
      <div class="editor-head">
        <h1>{name} {more}</h1>
        <span class="bar-part">
          <button type="button" class="first" disabled={!dirty || state === "saving" || !may("run")} title="Ctrl+S" onClick={() => void save()}>{mine ? "Save" : "Save as a copy"}</button>
          <span role="status" class={state === "failed" ? "bad" : dirty ? "" : "good"}>{words}</span>
          <button type="button" disabled={!history.past.length} title="Ctrl+Z" onClick={() => act({ do: "undo" })}>Undo</button>
          <button type="button" disabled={!history.future.length} title="Ctrl+Shift+Z" onClick={() => act({ do: "redo" })}>Redo</button>
          <a class="button" href={`${kind.api}/${encodeURIComponent(name)}/file`} download={`${name}${kind.suffix}`}>Download</a>
          <a class="button" href={kind.page}>All {kind.what}s</a>
        </span>
      </div>
      {me?.accounts && !mine && <p class="notice-line">{owner ? `This ${kind.what} is ${owner}'s.` : `This ${kind.what} has no owner.`} {may("run") ? "Your edits are saved as your own copy." : `Your role is ${me.role}: your edits here cannot be saved.`}</p>}
      {trouble && <p class="bad" role="alert">{trouble}</p>}
      {older && <Conflict editing={editing} />}
      {again > 0 && dirty && !older && (
        <p class="notice-line" role="status">Your unsaved edits of {new Date(again).toLocaleString()} were restored. <button type="button" class="link" onClick={editing.throwAway}>Discard them</button></p>
      )}
    </>
  );
}

function Conflict<T>({ editing: { kind: { what }, older, keepMine, takeTheirs, keepAnyhow } }: { editing: Editing<T> }) {
  const there = older?.present.content !== undefined;
  return (
    <div class="lost" role="alert">
      <p>{there ? `Another user has saved this ${what} since you opened it. Your edits are not lost, and theirs were not overwritten.` : `Another user has removed this ${what} since you opened it.`}</p>
      {there
        ? <><button type="button" onClick={() => void keepMine()}>Keep mine as a copy</button> <button type="button" onClick={takeTheirs}>Use theirs</button></>
        : <button type="button" onClick={() => void keepAnyhow()}>Keep mine</button>}
    </div>
  );
}
