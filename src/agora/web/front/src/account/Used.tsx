// Quotas and their usage.
import type { ComponentChildren } from "preact";
import type { Quotas, Use } from "../schemas";


const WORDS: [keyof Quotas, string][] = [
  ["runs", "waiting or running runs"], ["episodes", "episodes per run"], ["processors", "processors per run"], ["lives", "live episodes at a time"],
  ["results", "results, MiB"], ["uploads", "scenarios, worlds and other files"], ["upload_size", "size of these files, MiB"],
];

const round = (value: number) => (Number.isInteger(value) ? value : value.toFixed(1));

/** `allowed`: shows a quota in another way than by its number. */
export function Used({ quotas, use, allowed }: { quotas: Quotas; use: Use; allowed?(name: keyof Quotas, words: string): ComponentChildren }) {
  return (
    <table>
      <thead><tr><th scope="col"><span class="hidden">Resource</span></th><th scope="col" class="number">used</th><th scope="col" class="number">allowed</th></tr></thead>
      <tbody>
        {WORDS.map(([name, words]) => {
          const used = name in use ? use[name as keyof Use] : null;
          return (
            <tr key={name}>
              <th scope="row">{words}</th><td class="number">{used === null ? "" : round(used)}</td>
              <td class={used !== null && used >= quotas[name] ? "number bad" : "number"}>{allowed ? allowed(name, words) : quotas[name]}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
