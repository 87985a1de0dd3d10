// The page of live episodes. The tour next to them does not move when the episodes change, because the user may be pressing its button.
import { useState } from "preact/hooks";
import { Tour } from "../Tour";
import { FirstLive } from "./FirstLive";
import { Others } from "./Others";
import { Picker } from "./Picker";
import { Watched } from "./Watched";
import type { Live } from "../schemas";

/** `ids`: of the live episodes; without any, one is looked for or started. `together`: see `Watched`. */
export function LivePage({ ids, together }: { ids: string[]; together: boolean }) {
  const [first, setFirst] = useState<Live | null>(null), key = ids.join();
  return (
    <div class={ids.length > 1 ? "live many" : "live"}>
      {ids.length ? <Watched key={key} ids={ids} together={together} tell={setFirst} /> : <FirstLive />}
      <aside class="live-side">
        <Tour />
        <Picker key={`picker ${key}`} live={first} ids={ids} />
        {ids.length > 0 && <Others ids={ids} />}
      </aside>
    </div>
  );
}
