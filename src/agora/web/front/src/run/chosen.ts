// A planner with parameters as a text, the way the command line takes it: NAME:key=value,key=value.

export type Chosen = { name: string; values: Record<string, string> };

export function textOf({ name, values }: Chosen): string {
  const given = Object.entries(values).filter(([, value]) => value.trim() !== "");
  return given.length ? `${name}:${given.map(([key, value]) => `${key}=${value.trim()}`).join(",")}` : name;
}
