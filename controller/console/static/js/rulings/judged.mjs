// What the rulebook says of some cards, as the combination judge shows it.

import { h } from "../dom.mjs";
import { both, say } from "../words.mjs";
import { article } from "./parts.mjs";

/** What a kind of combination is called in a rulebook (`book`, null: not known yet). */
function kindWords(book, kind) {
  const one = book?.kinds.find((each) => each.kind === kind);
  return one ? both(one) : kind;
}

/** Whether a play is legal, why, and what each play counts as. */
export function verdict(found) {
  return [
    h("p", { class: "verdict", data: { legal: found.legal ? "yes" : "no" } },
      h("span", { class: "sign", "aria-hidden": "true" }, found.legal ? "✓" : "✕"), both(found)),
    found.provisional ? h("p", { class: "provisional" }, say("rulings.rests-on-provisional")) : null,
    reasons(found.reasons), found.table ? judged(found.table, say("rulings.on-table")) : null,
    judged(found.play, say("rulings.the-play")),
  ];
}

/** The kinds that a wrong lead contains, of which the player on the left names one. */
export function containing(book, found) {
  return [
    h("p", { class: "verdict" }, say("rulings.contains")),
    h("ul", { class: "kinds" }, found.kinds.map((kind) => h("li", null, kindWords(book, kind)))),
    h("p", null, say("rulings.left-names")), reasons(found.reasons),
  ];
}

/** One play: what it counts as, and what else it may be. */
function judged(one, title) {
  const counts = one.counts_as;
  const readings = one.readings.filter((each) => !counts || spokenAs(each) !== spokenAs(counts)).slice(0, 8);
  return h("section", { class: "judged" }, h("h3", null, title, " · ", one.play),
    counts ? h("p", null, say("rulings.counts-as"), " ", h("b", null, both(counts)), " ", counts.cards.map(laid).join(" ")) : h("p", { class: "bad" }, say("rulings.is-nothing")),
    one.declared ? h("p", null, say("rulings.was-declared", { what: both(one.declared) })) : null,
    one.declaration_due ? h("p", { class: "wait" }, say("rulings.had-to-declare")) : null,
    readings.length ? h("details", null, h("summary", null, say("rulings.may-be", { n: one.readings.length })),
      h("ul", null, readings.map((each) => h("li", null, both(each), " ", each.cards.map(laid).join(" "))))) : null,
    reasons(one.reasons));
}

/** The rank that a card stands for. */
export const rankOf = (one) => (one.stands_for ?? one.card).replace(/^[♠♥♣♦]/, "");
const laid = (one) => (one.stands_for ? `${one.stands_for}(${one.card})` : one.card);

/** A reading as its player would declare it: "straight 4 5 6 7 8". */
export function spokenAs(reading) {
  return `${reading.en} ${reading.cards.map(rankOf).join(" ")}`;
}

/** Why, each with its article. */
function reasons(list) {
  return list?.length ? h("ul", { class: "reasons" }, list.map((one) => h("li", null, both(one), " ",
    article(one.article, false), one.provisional ? h("span", { class: "article provisional" }, say("rulings.provisional")) : null))) : null;
}
