// The cards of one play, tapped or typed, and the player's declaration.

import { cardText } from "../cards.mjs";
import { data, fill, h, shown } from "../dom.mjs";
import { say, textOf } from "../words.mjs";
import { declarationText, representedRank } from "./play-verdict.mjs";
import { makeChoiceButtons } from "./parts.mjs";

const MOST_READINGS = 14;

export class PlayForm {
  /** `wild(card)`: true for a wild card; `chosen()`: this play receives the taps; `changed()`. */
  constructor({ wild, chosen, changed }) {
    this.wild = wild;
    this.changed = changed;
    this.cards = [];
    this.declared = null;
    this.line = h("output", { class: "cards" });
    this.readings = h("div", { class: "declared" });
    this.node = h("div", { class: "hand", onclick: chosen }, this.line, this.readings);
  }

  /** Return the play as an argument of the question. */
  asked() {
    return { cards: this.cards.join(" "), declared: this.declared };
  }

  active(whether) {
    data(this.node, "active", whether ? "yes" : null);
  }

  take(...cards) {
    this.cards.push(...cards);
    this.declared = null;
    this.draw();
    this.changed();
  }

  empty() {
    this.cards.length = 0;
    this.declared = null;
    this.draw();
    this.read(null);
  }

  draw() {
    fill(this.line, this.cards.length ? this.cards.map((card, n) => this.button(card, n))
      : h("span", { class: "quiet" }, say("rulings.no-cards")));
  }

  button(card, n) {
    return h("button", {
      type: "button", class: "card", data: { suit: suitLetter(card), wild: this.wild(card) ? "yes" : null },
      "aria-label": say("rulings.take-away", { card: cardText(card) }),
      onclick: (event) => {
        event.stopPropagation();
        this.cards.splice(n, 1);
        this.take();
      },
    }, cardText(card), this.wild(card) ? h("small", null, say("rulings.wild")) : null);
  }

  /** Show the possible readings of these cards. If there are several, the player's word decides. */
  read(judged, mayDeclare = false) {
    const readings = mayDeclare ? judged?.readings ?? [] : [];
    shown(this.readings, readings.length > 1);
    if (readings.length < 2) return;
    const made = makeChoiceButtons({
      label: say("rulings.declared"), free: true, value: this.declared,
      options: readings.slice(0, MOST_READINGS).map((one) => [declarationText(one), `${textOf(one)} ${one.cards.map(representedRank).join("")}`]),
      onchange: (one) => {
        this.declared = one;
        this.changed();
      },
    });
    fill(this.readings, h("span", { class: "label" },
      judged.declaration_due ? say("rulings.declaration-due") : say("rulings.declared")), made.node);
  }
}

/** Return the letter for a card's colour: its suit, or B and S for the jokers. */
export function suitLetter(card) {
  return card === "BJ" ? "B" : card === "SJ" ? "S" : card[0];
}
