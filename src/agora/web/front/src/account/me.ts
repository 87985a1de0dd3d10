// The user of the pages and the user's rights.
import { useEffect, useReducer } from "preact/hooks";
import { get, remove, SIGNED_OUT, wordsOf } from "../api";
import type { Me } from "../schemas";

export type Role = Exclude<Me["role"], "">;

export const ROLES: Role[] = ["look", "run", "administer"];
export const MEANS: Record<Role, string> = {
  look: "see everything, watch, download", run: "see everything, run planners, drive, draw scenarios", administer: "everything, including other people and their content",
};

class Self {
  me: Me | null = null;
  error = "";
  #listeners = new Set<() => void>();

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) {
      addEventListener(SIGNED_OUT, () => { void this.load(); });
      void this.load();
    }
    return () => this.#listeners.delete(listener);
  }

  async load(): Promise<void> {
    try { this.me = await get<Me>("/api/me"); this.error = ""; } catch (problem) { this.error = wordsOf(problem); }
    for (const listener of this.#listeners) listener();
  }
}

const self = new Self();

/** Whether a role includes the rights of another one. */
export const may = (me: Me | null, role: Role) => me !== null && me.role !== "" && ROLES.indexOf(me.role) >= ROLES.indexOf(role);

export function useMe(): { me: Me | null; error: string; may(role: Role): boolean; owns(owner: string): boolean } {
  const [, tell] = useReducer((count: number) => count + 1, 0);
  useEffect(() => self.listen(() => tell(undefined)), []);
  const { me, error } = self;
  return { me, error, may: (role) => may(me, role), owns: (owner) => may(me, "administer") || (may(me, "run") && owner === me!.name) };
}

/** Restart as another user, or signed out: nothing that was shown to one user stays for the next. */
export const anew = (address: string) => { location.replace(address); };

export async function signOut(): Promise<void> {
  await remove("/api/session");
  anew("/");
}
