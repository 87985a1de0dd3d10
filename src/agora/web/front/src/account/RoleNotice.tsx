// Explains why the user cannot do something here.
import { useMe, type Role } from "./me";

const WORDS: Record<Role, string> = { look: "look", run: "run planners, drive and draw", administer: "administer" };

export function RoleNotice({ role }: { role: Role }) {
  const { me, may } = useMe();
  if (!me || may(role)) return null;
  return <p class="notice-line">Your role is <b>{me.role || "none"}</b>: you cannot {WORDS[role]} here. An administrator can change that.</p>;
}
