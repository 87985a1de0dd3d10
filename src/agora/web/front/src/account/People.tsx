// The users of a server: roles, quotas, blocking, new passwords.
import { useEffect, useState } from "preact/hooks";
import { get, patch, post, wordsOf } from "../api";
import { ROLES, useMe, type Role } from "./me";
import { Secret } from "./Secret";
import { Used } from "./Used";
import { linkOf } from "./Invitations";
import type { NewSecret, Quotas, User } from "../schemas";

export function People() {
  const { me } = useMe();
  const [users, setUsers] = useState<User[]>([]), [error, setError] = useState(""), [reset, setReset] = useState({ name: "", link: "" }), [open, setOpen] = useState("");
  const load = () => get<User[]>("/api/users").then(setUsers, (problem: unknown) => setError(wordsOf(problem)));
  useEffect(() => { void load(); }, []);
  const change = async (user: User, fields: Partial<{ role: Role; blocked: boolean; quotas: Partial<Quotas> }>) => {
    setError("");
    try { await patch(`/api/users/${encodeURIComponent(user.name)}`, fields); } catch (problem) { setError(wordsOf(problem)); }
    await load();
  };
  const another = async ({ name }: User) => {
    setError("");
    try { setReset({ name, link: linkOf((await post<NewSecret>("/api/invitations", { user: name })).token) }); } catch (problem) { setError(wordsOf(problem)); }
  };
  return (
    <section aria-labelledby="people">
      <h2 id="people">People</h2>
      {error && <p class="bad" role="alert">{error}</p>}
      {reset.link && <Secret text={reset.link} words={`Link for ${reset.name} to set a new password, shown once`} />}
      <div class="scroll" tabIndex={0} role="region" aria-label="People">
        <table class="full people">
          <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col" class="number">Runs</th><th scope="col" class="number">Results, MiB</th><th scope="col" class="number">Sessions</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
          <tbody>
            {users.map((user) => (
              <tr key={user.name}>
                <td class="title">{user.name}{user.name === me?.name && <small> you</small>}{user.blocked && <small class="bad"> blocked</small>}</td>
                <td><select aria-label={`Role of ${user.name}`} value={user.role} onChange={(event) => void change(user, { role: event.currentTarget.value as Role })}>{ROLES.map((role) => <option key={role}>{role}</option>)}</select></td>
                <td class="number">{user.use.runs}</td><td class="number">{user.use.results.toFixed(1)}</td><td class="number">{user.sessions}</td>
                <td>
                  <button type="button" aria-label={`${user.blocked ? "Unblock" : "Block"} ${user.name}`} onClick={() => void change(user, { blocked: !user.blocked })}>{user.blocked ? "Unblock" : "Block"}</button>{" "}
                  <button type="button" aria-label={`New password for ${user.name}`} onClick={() => void another(user)}>New password</button>{" "}
                  {user.role !== "administer" && <button type="button" aria-label={`Quotas of ${user.name}`} aria-expanded={open === user.name} onClick={() => setOpen(open === user.name ? "" : user.name)}>Quotas</button>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {users.filter(({ name }) => name === open).map((user) => <Limits key={user.name} user={user} put={(quotas) => change(user, { quotas })} close={() => setOpen("")} />)}
    </section>
  );
}

/** The usage and the quotas of a user; an empty field means the server's default. */
function Limits({ user, put, close }: { user: User; put(quotas: Partial<Quotas>): Promise<void>; close(): void }) {
  const [fields, setFields] = useState<Partial<Quotas>>(user.own_quotas), [said, setSaid] = useState("");
  const change = (name: keyof Quotas, value: string) => {
    setSaid("");
    setFields(({ [name]: _, ...others }) => (value ? { ...others, [name]: Number(value) } : others));
  };
  const save = async (event: Event) => { event.preventDefault(); await put(fields); setSaid("Set."); };
  return (
    <form class="card limits" aria-labelledby="limits" onSubmit={save}>
      <button type="button" class="close" aria-label="Close the quotas" onClick={close}>×</button>
      <h3 id="limits">Quotas of {user.name}</h3>
      <Used quotas={user.quotas} use={user.use} allowed={(name, words) => (
        <input type="number" aria-label={words} min={1} step={1} value={fields[name] ?? ""} placeholder={`${user.quotas[name]}`} onInput={(event) => change(name, event.currentTarget.value)} />
      )} />
      <p class="faint">If a field is empty, the server's default applies, from <code>web.yaml</code>.</p>
      <button type="submit">Set the quotas of {user.name}</button> <span class="good" role="status">{said}</span>
    </form>
  );
}
