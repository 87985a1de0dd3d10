// Invitations: a new one, and the open ones.
import { useEffect, useState } from "preact/hooks";
import { get, post, remove, wordsOf } from "../api";
import { MEANS, ROLES, type Role } from "./me";
import { Secret } from "./Secret";
import type * as schemas from "../schemas";

export const linkOf = (token: string) => `${location.origin}/invitation#${token}`;

export function Invitations() {
  const [open, setOpen] = useState<schemas.Invitation[]>([]), [role, setRole] = useState<Role>("run"), [link, setLink] = useState(""), [error, setError] = useState("");
  const load = () => get<schemas.Invitation[]>("/api/invitations").then(setOpen, (problem: unknown) => setError(wordsOf(problem)));
  useEffect(() => { void load(); }, []);
  const invite = async (event: Event) => {
    event.preventDefault();
    setError("");
    try { setLink(linkOf((await post<schemas.NewSecret>("/api/invitations", { role })).token)); } catch (problem) { setError(wordsOf(problem)); }
    await load();
  };
  const withdraw = async ({ id }: schemas.Invitation) => {
    setError("");
    try { await remove(`/api/invitations/${id}`); setLink(""); } catch (problem) { setError(wordsOf(problem)); }
    await load();
  };
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations" class="next">Invitations</h2>
      <form class="bar-part" onSubmit={invite}>
        <label>Role <select value={role} onChange={(event) => setRole(event.currentTarget.value as Role)}>{ROLES.map((one) => <option key={one} value={one}>{one}: {MEANS[one]}</option>)}</select></label>
        <button type="submit" class="first">Invite somebody</button>
      </form>
      {error && <p class="bad" role="alert">{error}</p>}
      {link && <Secret text={link} words="The link, shown once" note="It can be used once, within 7 days. Send it over a channel that you trust: the first person to open it gets the account." />}
      <ul class="plain keys-list">
        {open.map((one) => (
          <li key={one.id}><span>{one.user ? <>a new password for <b>{one.user}</b></> : <>a new user with the role <b>{one.role}</b></>} <small>by {one.by || "the terminal"}, until {new Date(one.expires).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}</small></span> <button type="button" aria-label={`Withdraw the invitation ${one.id}`} onClick={() => void withdraw(one)}>Withdraw</button></li>
        ))}
        {!open.length && <li class="faint">No invitation is open.</li>}
      </ul>
    </section>
  );
}
