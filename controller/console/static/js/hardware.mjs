// The hardware behind a table's boards, as the console reports it (view/hardware.py).

import { h } from "./dom.mjs";
import { pairText, say } from "./words.mjs";

/** The dealer, the reader and the reader's trigger, in the order of every page. */
export const HARDWARE = ["dealer", "reader", "trigger"];

/** Return the promises that this hardware cannot keep, or null if it keeps all. */
export function missingGuarantees(hardware) {
  if (!hardware?.cannot.length) return null;
  return [h("h3", null, say("hardware.cannot")), h("ul", { class: "cannot" }, hardware.cannot.map((one) => h("li", null, pairText(one))))];
}
