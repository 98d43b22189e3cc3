// The rulebook's answer about cards, as the combination judge shows it.

import { h } from "../dom.mjs";
import { say, textOf } from "../words.mjs";
import { showArticle } from "./parts.mjs";

/** Return the name of a kind of combination in a rulebook (`book`; null: not received). */
function kindText(book, kind) {
  const one = book?.kinds.find((each) => each.kind === kind);
  return one ? textOf(one) : kind;
}

/** Show whether a play is legal, the reasons, and the kind of each play. */
export function showVerdict(found) {
  return [
    h("p", { class: "verdict", data: { legal: found.legal ? "yes" : "no" } },
      h("span", { class: "sign", "aria-hidden": "true" }, found.legal ? "✓" : "✕"), textOf(found)),
    found.provisional ? h("p", { class: "provisional" }, say("rulings.rests-on-provisional")) : null,
    reasons(found.reasons), found.table ? judged(found.table, say("rulings.on-table")) : null,
    judged(found.play, say("rulings.the-play")),
  ];
}

/** Show the kinds that a wrong lead contains. The player on the left chooses one. */
export function showContainedKinds(book, found) {
  return [
    h("p", { class: "verdict" }, say("rulings.contains")),
    h("ul", { class: "kinds" }, found.kinds.map((kind) => h("li", null, kindText(book, kind)))),
    h("p", null, say("rulings.left-names")), reasons(found.reasons),
  ];
}

/** Show one play: its kind, and its other possible kinds. */
function judged(one, title) {
  const counts = one.counts_as;
  const readings = one.readings.filter((each) => !counts || declarationText(each) !== declarationText(counts)).slice(0, 8);
  return h("section", { class: "judged" }, h("h3", null, title, " · ", one.play),
    counts ? h("p", null, say("rulings.counts-as"), " ", h("b", null, textOf(counts)), " ", counts.cards.map(laid).join(" ")) : h("p", { class: "bad" }, say("rulings.is-nothing")),
    one.declared ? h("p", null, say("rulings.was-declared", { what: textOf(one.declared) })) : null,
    one.declaration_due ? h("p", { class: "wait" }, say("rulings.had-to-declare")) : null,
    readings.length ? h("details", null, h("summary", null, say("rulings.may-be", { n: one.readings.length })),
      h("ul", null, readings.map((each) => h("li", null, textOf(each), " ", each.cards.map(laid).join(" "))))) : null,
    reasons(one.reasons));
}

/** Return the rank that a card represents. */
export const representedRank = (one) => (one.stands_for ?? one.card).replace(/^[♠♥♣♦]/, "");
const laid = (one) => (one.stands_for ? `${one.stands_for}(${one.card})` : one.card);

/** Return a reading as a player declares it: "straight 4 5 6 7 8". */
export function declarationText(reading) {
  return `${reading.en} ${reading.cards.map(representedRank).join(" ")}`;
}

/** List the reasons, each with its article. */
function reasons(list) {
  return list?.length ? h("ul", { class: "reasons" }, list.map((one) => h("li", null, textOf(one), " ",
    showArticle(one.article, false), one.provisional ? h("span", { class: "article provisional" }, say("rulings.provisional")) : null))) : null;
}
