// That the order for the whole area stops a table's clock, once for all pages.

import { both, say } from "./words.mjs";

/** The words for it, with the reason; empty where the clock runs. `one.stop` is the console's. */
export function stopWords(one) {
  if (!one?.stop) return "";
  const why = both(one.stop, "why");
  return why ? say("stop.area-why", { why }) : say("stop.area");
}
