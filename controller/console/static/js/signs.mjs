// Signs for what a table is like: beside colour and word, never instead of them.

const RANKS = ["", "▲", "●", "#", "■", "◆", "=", "◷", "…", "✕", "⚙"];
const LIGHTS = { dark: "✕", calm: "–", busy: "▷", waits: "●", stands: "■" };

/** The sign of a reason's rank (view/waits.py). */
export function rankSign(rank) {
  return RANKS[rank] ?? "●";
}

/** The sign of how a table stands at one glance (view/rows.py). */
export function lightSign(light) {
  return LIGHTS[light] ?? "✕";
}
