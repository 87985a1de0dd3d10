// The page for signing in.
import { useState } from "preact/hooks";
import { post, wordsOf } from "../api";

export function SignIn() {
  const [name, setName] = useState(""), [password, setPassword] = useState(""), [error, setError] = useState(""), [busy, setBusy] = useState(false);
  const enter = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    try { await post("/api/session", { name, password }); location.reload(); } catch (problem) { setError(wordsOf(problem)); setBusy(false); }
  };
  return (
    <form class="card door" onSubmit={enter}>
      <h1>Sign in</h1>
      <p>Agora runs robots among people and compares planners. You need an invitation to use this server.</p>
      <label>Name <input type="text" name="name" autocomplete="username" autocapitalize="none" spellcheck={false} required maxLength={60} value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
      <label>Password <input type="password" name="password" autocomplete="current-password" required value={password} onInput={(event) => setPassword(event.currentTarget.value)} /></label>
      {error && <p class="bad" role="alert">{error}</p>}
      <button type="submit" class="first" disabled={busy}>Sign in</button>
      <p class="faint">No account, or lost your password? Ask an administrator of this server for an invitation, a link that can be used once.</p>
    </form>
  );
}
