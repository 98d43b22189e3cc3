// What stands behind a table's boards, as the console tells of it (view/hardware.py).

import { h } from "./dom.mjs";
import { pairWords, say } from "./words.mjs";

/** What deals, what reads, and how the reader is told of a card: in this order on every page. */
export const HARDWARE = ["dealer", "reader", "trigger"];

/** What such hardware cannot promise; nothing where it promises all. */
export function promises(hardware) {
  if (!hardware?.cannot.length) return null;
  return [h("h3", null, say("hardware.cannot")), h("ul", { class: "cannot" }, hardware.cannot.map((one) => h("li", null, pairWords(one))))];
}
