// The first panel: pending rulings, a new charge, the counters of both pairs, rulings in force.

import { h } from "../dom.mjs";
import { say } from "../words.mjs";
import { Charging } from "./charge.mjs";
import { counters } from "./counters.mjs";
import { docket } from "./docket.mjs";

/** Make the panel: {node, draw(), learned()}. */
export function desk(at) {
  const none = h("p", { class: "panel quiet", hidden: true }, say("rulings.no-ladder"));
  const [cases, charge, counted] = [docket(at), new Charging(at), counters(at)];
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
