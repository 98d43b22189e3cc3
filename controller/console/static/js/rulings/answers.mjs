// One answer to a charge: its effects, and the buttons that propose it or decide it at once.

import { askConfirmation } from "../dialog.mjs";
import { fill, h } from "../dom.mjs";
import { makeCommandButton } from "../command-button.mjs";
import { SEATS } from "../seats.mjs";
import { say, textOf } from "../words.mjs";
import { changesMatch, makeSpokenFields, previewTexts, requestPreview, seatText, showArticle, showPreview, sideText } from "./parts.mjs";

/** Make the card of an answer: {node, draw()}. `args`: the charge. `number` 0 is the answer of the
 * penalty ladder. `over(words)` is called at the end, with a message for the person. */
export function makeAnswerCard(at, args, one, number, over) {
  const asked = number || one.discretion ? { ...args, penalty: one.penalty } : args;
  const mine = one.needs === "referee" || at.chief();
  const effects = one.effects.map(([en, zh]) => textOf({ en, zh }));
  const will = h("div");
  const word = makeSpokenFields(at);
  const accused = SEATS.includes(args.seat) ? seatText(at, args.seat) : sideText(at, args.side);
  let seen = null;
  const grave = changesMatch(one);
  let reached = null;
  /** Empty the form, unless a person has begun another charge meanwhile. */
  const done = (words = "") => node.isConnected && over(words);
  const about = { deal: () => at.state?.match.deal, attempt: () => at.state?.match.attempt };

  const second = makeCommandButton({
    table: at.table, cmd: "approve", label: say("rulings.rule-second"), kind: "go", ...about,
    args: () => ({ ruling: reached, ...word.args() }),
    after: () => {
      at.tell(say("rulings.ruled", { id: reached, what: textOf(one) }));
      setTimeout(done, 2500);
    },
  });
  second.node.hidden = true;
  second.node.classList.add("second");
  /** Propose and decide with one touch. The second command follows at once, so the table's earlier
   * offers, made before it knew the ruling, are ignored. */
  const rule = makeCommandButton({
    table: at.table, cmd: "propose", label: mine ? say("rulings.rule") : say("rulings.rule-by-word"),
    kind: number ? "plain" : "go", ...about,
    args: async () => {
      if (!word.ready() && !mine) {
        at.tell(say("rulings.word-first"), "bad");
        return null;
      }
      if (grave && !(await askConfirmation({
        title: say("rulings.approve-title", { what: textOf(one), whom: accused }),
        text: [...effects, ...previewTexts(seen)].join("\n"), yes: say("rulings.rule"), danger: true,
      }))) return null;
      return asked;
    },
    after: (reply) => {
      reached = reply.result.ruling;
      second.node.hidden = false;
      second.node.querySelector("button").click();
    },
  });
  const propose = makeCommandButton({
    table: at.table, cmd: "propose", label: mine ? say("rulings.propose-only") : say("rulings.propose"),
    kind: mine || number ? "plain" : "go", args: asked, ...about,
    after: (reply) => done(say("rulings.proposed", {
      id: reply.result.ruling, what: textOf(one), whom: accused,
      who: say(one.needs === "chief" ? "rulings.waits-chief" : "rulings.waits-referee"),
    })),
  });
  word.shown(!mine);
  const node = h("article", { class: "answer", data: { first: number === 0 && !one.discretion ? "yes" : null, penalty: one.penalty } },
    h("h4", null, textOf(one), " ", one.discretion ? h("span", { class: "article" }, "A15.3.7") : showArticle(one.article, one.provisional),
      number === 0 && !one.discretion ? h("span", { class: "badge" }, say("rulings.first")) : null,
      one.needs === "chief" ? h("span", { class: "badge chiefs" }, "⚑ ", say("rulings.chiefs")) : null),
    textOf(one, "why") ? h("p", { class: "quiet" }, textOf(one, "why")) : null,
    effects.length ? h("ul", { class: "effects" }, effects.map((line) => h("li", null, line))) : null,
    will, word.node,
    h("div", { class: "acts" }, rule.node, second.node, propose.node));

  let looked = false;
  return {
    node,
    draw: () => {
      for (const button of [rule, propose]) button.offer(at.offer("propose"));
      if (looked) return;
      looked = true;
      if (!grave || one.discretion && one.penalty === "none") return;
      fill(will, showPreview(null));
      requestPreview(at, "propose", asked).then((found) => {
        seen = found;
        fill(will, showPreview(found));
      });
    },
  };
}
