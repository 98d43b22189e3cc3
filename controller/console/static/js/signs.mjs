// Signs for what a table is like: beside colour and word, never instead of them.

/** The rank of a table that waits for nobody and is only not heard (view/reasons.py). */
export const UNHEARD = 9;

/** The sign of a table that somebody goes to. */
export const GOING = "→";

const RANKS = ["", "▲", "●", "#", "■", "◆", "=", "◷", "…", "✕", "⚙"];
const LIGHTS = { dark: "✕", calm: "–", busy: "▷", waits: "●", stands: "■" };

/** The sign of a reason's rank (view/reasons.py). */
export function rankSign(rank) {
  return RANKS[rank] ?? "●";
}

/** The sign of how a table stands at one glance (view/rows.py). */
export function lightSign(light) {
  return LIGHTS[light] ?? "✕";
}
