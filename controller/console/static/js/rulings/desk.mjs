// The first panel: pending rulings, a new charge, the counters of both pairs, rulings in force.

import { h } from "../dom.mjs";
import { say } from "../words.mjs";
import { ChargePanel } from "./charge-panel.mjs";
import { makeCounterPanel } from "./counters.mjs";
import { makeRulingLists } from "./ruling-lists.mjs";

/** Make the panel: {node, draw(), learned()}. */
export function makeDeskPanel(at) {
  const none = h("p", { class: "panel quiet", hidden: true }, say("rulings.no-ladder"));
  const [cases, charge, counted] = [makeRulingLists(at), new ChargePanel(at), makeCounterPanel(at)];
  const node = h("div", { class: "two" },
    h("div", { class: "stack" }, none, cases.open, charge.node),
    h("div", { class: "stack" }, counted.node, cases.closed));
  return {
    node,
    learned: () => {
      none.hidden = at.book?.ladder !== null;
      charge.learned();
      counted.learned();
    },
    draw: () => {
      cases.draw();
      charge.draw();
      counted.draw();
    },
  };
}
