// An invitation: a new user chooses name and password, a known user a new password. Its secret is after # in the address, which browsers do not send to the server.
import { useEffect, useState } from "preact/hooks";
import { post, wordsOf } from "../api";
import { anew, MEANS, useMe } from "./me";
import type { Offer } from "../schemas";

export function Invitation() {
  const { me } = useMe(), token = location.hash.slice(1);
  const [found, setFound] = useState<Offer | null>(null), [wrong, setWrong] = useState(token ? "" : "This address lacks the secret after #. Open the complete link that you received.");
  useEffect(() => { if (token) post<Offer>("/api/invitation/look", { token }).then(setFound, (problem: unknown) => setWrong(wordsOf(problem))); }, [token]);
  if (wrong) return <div class="card door"><h1>Invitation</h1><p class="bad" role="alert">{wrong}</p><p><a href="/">{me?.name ? "Go to the first page" : "Sign in"}</a></p></div>;
  if (!found) return <div class="card door"><h1>Invitation</h1><p class="faint" role="status">Checking the invitation …</p></div>;
  return <Chosen found={found} token={token} present={me?.name ?? ""} />;
}

function Chosen({ found, token, present }: { found: Offer; token: string; present: string }) {
  const [name, setName] = useState(""), [password, setPassword] = useState(""), [again, setAgain] = useState(""), [error, setError] = useState(""), [busy, setBusy] = useState(false);
  const take = async (event: Event) => {
    event.preventDefault();
    if (password !== again) { setError("The two passwords differ."); return; }
    setBusy(true);
    setError("");
    try { await post("/api/invitation", { token, name: found.name || name, password }); anew("/"); } catch (problem) { setError(wordsOf(problem)); setBusy(false); }
  };
  return (
    <form class="card door" onSubmit={take}>
      <h1>{found.name ? "New password" : "Welcome to Agora"}</h1>
      {found.role !== "" && <p>Your role will be <b>{found.role}</b>: {MEANS[found.role]}.</p>}
      {present && <p class="notice-line">You are signed in as {present}. This signs you out.</p>}
      {found.name
        ? <label>Name <input type="text" autocomplete="username" value={found.name} readOnly /></label>
        : <label>Name <input type="text" autocomplete="username" autocapitalize="none" spellcheck={false} required maxLength={60} value={name} onInput={(event) => setName(event.currentTarget.value)} /><small>Others see it next to your runs. It cannot be changed.</small></label>}
      <label>Password <input type="password" autocomplete="new-password" required minLength={10} maxLength={200} value={password} onInput={(event) => setPassword(event.currentTarget.value)} /><small>At least 10 characters; several words are a good choice.</small></label>
      <label>Password again <input type="password" autocomplete="new-password" required value={again} onInput={(event) => setAgain(event.currentTarget.value)} /></label>
      {error && <p class="bad" role="alert">{error}</p>}
      <button type="submit" class="first" disabled={busy}>{found.name ? "Set the password" : "Create the account"}</button>
      <p class="faint">The link can be used once, until {new Date(found.expires).toLocaleString()}.</p>
    </form>
  );
}
