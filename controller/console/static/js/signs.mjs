// Signs for the state of a table. They are used beside colours and words, never alone.

/** The rank of a table that is only silent (`Urgency.UNHEARD` in view/wait_reasons.py). */
export const UNHEARD = 9;

/** The sign of a table that a person goes to. */
export const GOING = "→";

const RANKS = ["", "▲", "●", "#", "■", "◆", "=", "◷", "…", "✕", "⚙"];
const LIGHTS = { dark: "✕", calm: "–", busy: "▷", waits: "●", stands: "■" };

/** Return the sign of a reason's rank (view/wait_reasons.py). */
export function rankSign(rank) {
  return RANKS[rank] ?? "●";
}

/** Return the sign of a table's light (view/hall_rows.py). */
export function lightSign(light) {
  return LIGHTS[light] ?? "✕";
}
