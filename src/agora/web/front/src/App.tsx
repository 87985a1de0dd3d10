// The frame of all pages: their names, and the one that the address asks for.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Account } from "./account/Account";
import { Invitation } from "./account/Invitation";
import { Server } from "./account/Server";
import { signOut, useMe } from "./account/me";
import { SignIn } from "./account/SignIn";
import { ReportFrame } from "./ReportFrame";
import { Planners } from "./lists/Planners";
import { Policies } from "./lists/Policies";
import { Robots } from "./lists/Robots";
import { MOST } from "./live/start";
import { LivePage } from "./live/LivePage";
import { useNews } from "./news";
import { follow, useLocation } from "./router";
import { Compare } from "./results/Compare";
import { Results } from "./results/Results";
import { RunDetail } from "./results/RunDetail";
import { RunPage } from "./run/RunPage";
import { ScenarioPage } from "./scenarios/Editor";
import { Scenarios } from "./scenarios/Scenarios";
import { SuitePage } from "./suites/SuiteEditor";
import { Suites } from "./suites/Suites";
import { TrainingDetail } from "./training/TrainingDetail";
import { Trainings } from "./training/Trainings";
import { WorldPage } from "./worlds/WorldEditor";
import { Worlds } from "./worlds/Worlds";

const PAGES: [string, string][] = [
  ["", "Live"], ["scenarios", "Scenarios"], ["worlds", "Worlds"], ["suites", "Suites"], ["run", "Run"], ["results", "Results"], ["training", "Training"], ["leaderboard", "Leaderboard"], ["planners", "Planners"], ["robots", "Robots"], ["policies", "Policies"],
];

export function App() {
  const place = useLocation(), { me, error } = useMe();
  if (!me) return error ? <main><p class="lost" role="alert">{error}</p></main> : null;
  if (place.pathname === "/invitation") return <main class="outside"><Invitation /></main>;
  return me.role === "" ? <main class="outside"><SignIn /></main> : <Inside />;
}

/** The pages of a signed-in user. */
function Inside() {
  const { me, may } = useMe();
  const place = useLocation(), [first, ...rest] = place.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  const here = first === "live" || !first ? "" : first === "compare" ? "results" : first;
  const news = useNews(), busy = (name: string) => (news.runs ?? []).filter(({ kind, state }) => (kind === "training" ? "training" : "results") === name && (state === "running" || state === "queued")).length;
  const pages: [string, string][] = me?.accounts && may("administer") ? [...PAGES, ["server", "Server"]] : PAGES;
  const title = [...pages, ["account", "Account"]].find(([name]) => name === here)?.[1] ?? "Not found";
  const main = useRef<HTMLElement>(null), shown = useRef(here);
  useEffect(() => {
    document.title = `${title} · Agora`;
    if (shown.current !== here) main.current?.focus({ preventScroll: true });
    shown.current = here;
  }, [title, here]);
  return (
    <div onClick={follow}>
      <a class="skip" href="#main">Skip to content</a>
      <header class="top">
        <a class="brand" href="/">Agora</a>
        <nav aria-label="Pages">
          {pages.map(([name, words]) => (
            <a key={name} href={`/${name}`} aria-current={name === here ? "page" : undefined}>
              {words}{busy(name) > 0 && <span class="count" aria-label={`${busy(name)} in the queue`}>{busy(name)}</span>}
            </a>
          ))}
        </nav>
        {me?.accounts && <span class="who"><a href="/account" aria-current={here === "account" ? "page" : undefined}>{me.name}</a> <button type="button" onClick={() => void signOut()}>Sign out</button></span>}
      </header>
      {news.lost && <p class="lost" role="alert">The server does not answer. Is <code>agora web</code> still running? Trying again …</p>}
      <main id="main" tabIndex={-1} ref={main}>{page(first ?? "", rest, place)}</main>
    </div>
  );
}

function page(first: string, [one = "", two = ""]: string[], place: URL): ComponentChildren {
  switch (first) {
    case "":
    case "live": return <LivePage ids={[...new Set(first && one.split(",").filter(Boolean))].slice(0, MOST)} together={place.searchParams.has("together")} />;
    case "scenarios": return one ? <ScenarioPage key={one} name={one} /> : <Scenarios />;
    case "worlds": return one ? <WorldPage key={one} name={one} /> : <Worlds />;
    case "suites": return one ? <SuitePage key={one} name={one} /> : <Suites />;
    case "run": return <RunPage key={place.search} asked={place.searchParams} />;
    case "results": return one ? <RunDetail key={one} id={one} tab={two} asked={place.searchParams} /> : <Results />;
    case "training": return one ? <TrainingDetail key={one} id={one} /> : <Trainings asked={place.searchParams} />;
    case "compare": return <Compare runs={place.searchParams.get("run") ?? ""} />;
    case "leaderboard": return <><h1>Leaderboard</h1><ReportFrame src="/api/leaderboard" title="Leaderboard" /></>;
    case "planners": return <Planners name={one} />;
    case "robots": return <Robots name={one} />;
    case "policies": return <Policies name={one} />;
    case "account": return <Account />;
    case "server": return <Server />;
    default: return <><h1>Page not found</h1><p><a href="/">Go to the first page</a></p></>;
  }
}
