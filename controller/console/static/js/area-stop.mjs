// Texts for a clock that a command for the whole area has stopped; used by all pages.

import { say, textOf } from "./words.mjs";

/** Return the text with the reason, or "" if the clock runs. `one.stop` comes from the console. */
export function clockStopText(one) {
  if (!one?.stop) return "";
  const why = textOf(one.stop, "why");
  return why ? say("stop.area-why", { why }) : say("stop.area");
}
