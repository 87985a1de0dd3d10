// The user's account: password, tokens for programs, quotas.
import { useEffect, useState } from "preact/hooks";
import { get, post, remove, wordsOf } from "../api";
import { MEANS, signOut, useMe } from "./me";
import { Secret } from "./Secret";
import { Used } from "./Used";
import type * as schemas from "../schemas";

const day = (time: string | null) => (time ? new Date(time).toLocaleDateString(undefined, { dateStyle: "medium" }) : "never");

export function Account() {
  const { me } = useMe();
  const [own, setOwn] = useState<schemas.Account | null>(null), [error, setError] = useState("");
  const load = () => get<schemas.Account>("/api/me/account").then(setOwn, (problem: unknown) => setError(wordsOf(problem)));
  useEffect(() => { void load(); }, []);
  if (!me?.accounts) return <><h1>Account</h1><p>This server has no accounts: everyone who opens its pages has full access.</p></>;
  return (
    <>
      <h1>{me.name}</h1>
      <p>Your role is <b>{me.role}</b>{me.role && `: ${MEANS[me.role]}`}. <button type="button" onClick={() => void signOut()}>Sign out</button></p>
      {error && <p class="bad" role="alert">{error}</p>}
      <div class="pair account">
        <section class="card" aria-labelledby="tokens"><h2 id="tokens">Tokens for programs</h2>{own && <Tokens tokens={own.tokens} load={load} />}</section>
        <section class="card" aria-labelledby="password"><h2 id="password">Password</h2><Password name={me.name} load={load} /></section>
        <section class="card" aria-labelledby="used"><h2 id="used">Your usage</h2>{own && (own.quotas ? <Used quotas={own.quotas} use={own.use} /> : <p>Administrators have no quotas.</p>)}</section>
      </div>
    </>
  );
}

function Tokens({ tokens, load }: { tokens: schemas.Token[]; load(): Promise<void> }) {
  const [name, setName] = useState(""), [days, setDays] = useState("90"), [made, setMade] = useState(""), [error, setError] = useState("");
  const make = async (event: Event) => {
    event.preventDefault();
    setError("");
    try { setMade((await post<schemas.NewSecret>("/api/me/tokens", { name, days: Number(days) })).token); setName(""); } catch (problem) { setError(wordsOf(problem)); }
    await load();
  };
  const revoke = async ({ id, name: label }: schemas.Token) => {
    if (!confirm(`Revoke the token “${label}”? Programs that use it lose access immediately.`)) return;
    try { await remove(`/api/me/tokens/${id}`); } catch (problem) { setError(wordsOf(problem)); }
    await load();
  };
  return (
    <>
      <p>A program with a token has your rights. Give each program its own token, so that you can revoke each token separately.</p>
      {made && <Secret text={made} words="The token, shown once" note={<>A program sends it with each request: <code class="command">curl -H "authorization: Bearer {made}" {location.origin}/api/runs</code></>} />}
      {error && <p class="bad" role="alert">{error}</p>}
      <ul class="plain keys-list">
        {tokens.map((token) => (
          <li key={token.id}><span><b>{token.name}</b> <small>until {day(token.expires)}, last used {day(token.used)}</small></span> <button type="button" aria-label={`Revoke ${token.name}`} onClick={() => void revoke(token)}>Revoke</button></li>
        ))}
        {!tokens.length && <li class="faint">You have no tokens.</li>}
      </ul>
      <form class="bar-part" onSubmit={make}>
        <label>Name <input type="text" required maxLength={60} placeholder="laptop" value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
        <label>Days <input type="number" required min={1} max={366} value={days} onInput={(event) => setDays(event.currentTarget.value)} /></label>
        <button type="submit">Create a token</button>
      </form>
    </>
  );
}

function Password({ name, load }: { name: string; load(): Promise<void> }) {
  const [old, setOld] = useState(""), [fresh, setFresh] = useState(""), [again, setAgain] = useState(""), [said, setSaid] = useState(""), [error, setError] = useState("");
  const change = async (event: Event) => {
    event.preventDefault();
    setSaid("");
    setError("");
    if (fresh !== again) { setError("The two new passwords differ."); return; }
    try {
      await post("/api/me/password", { old, new: fresh });
      setOld(""); setFresh(""); setAgain("");
      setSaid("The password was changed. Other browsers are signed out, and your tokens are revoked.");
    } catch (problem) { setError(wordsOf(problem)); }
    await load();
  };
  return (
    <form class="stack" onSubmit={change}>
      <input class="hidden" type="text" autocomplete="username" value={name} readOnly tabIndex={-1} aria-hidden="true" />
      <label>Current password <input type="password" autocomplete="current-password" required value={old} onInput={(event) => setOld(event.currentTarget.value)} /></label>
      <label>New password <input type="password" autocomplete="new-password" required minLength={10} maxLength={200} value={fresh} onInput={(event) => setFresh(event.currentTarget.value)} /></label>
      <label>New password again <input type="password" autocomplete="new-password" required value={again} onInput={(event) => setAgain(event.currentTarget.value)} /></label>
      <p class="faint">This ends all other sessions and revokes all tokens.</p>
      {error && <p class="bad" role="alert">{error}</p>}
      {said && <p class="good" role="status">{said}</p>}
      <button type="submit">Change the password</button>
    </form>
  );
}
