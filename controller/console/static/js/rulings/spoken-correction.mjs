// A correction that a referee entered for the chief. The chief confirms it here.

import { data, fill, h } from "../dom.mjs";
import { makeCommandButton } from "../command-button.mjs";
import { hasText, say } from "../words.mjs";
import { spokenSourceText } from "./parts.mjs";

/** The card of one correction that waits for the chief: {node, draw(one)}. */
export class SpokenCorrectionCard {
  constructor(at, row) {
    this.at = at;
    this.confirm = makeCommandButton({
      table: at.table, cmd: "confirm_verbal", label: say("rulings.confirm-verbal"), kind: "go", args: { correction: row },
    });
    this.head = h("h3");
    this.facts = h("p");
    this.acts = h("div", { class: "acts" });
    this.node = h("article", { class: "case" }, this.head, this.facts, this.acts);
    data(this.node, "state", "unconfirmed");
  }

  draw(one) {
    const { at } = this;
    fill(this.head, h("span", { class: "sign", "aria-hidden": "true" }, "◐"), " ",
      say("rulings.correction-spoken", { deal: one.deal }), h("span", { class: "badge" }, say("rulings.state.unconfirmed")));
    fill(this.facts, say("rulings.correction-why", { by: spokenSourceText(one.by, one.entered_by), reason: hasText(`rulings.reason.${one.reason}`) ? say(`rulings.reason.${one.reason}`) : one.reason }));
    if (at.chief() !== this.acts.contains(this.confirm.node)) fill(this.acts, at.chief() ? this.confirm.node : null);
    this.confirm.offer(at.offer("confirm_verbal"));
  }
}
