// A new charge: the form, then the answers of the table's rulebook with their effects. Nothing is
// sent before a person presses a button that names the effect.

import { get } from "../api.mjs";
import { fill, h, keyed, shown } from "../dom.mjs";
import { say, textOf } from "../words.mjs";
import { ChargeForm } from "./charge-form.mjs";
import { makeAnswerCard } from "./answers.mjs";
import { makeFormRow, makeSignLine, seatText, showRemedy, sideText } from "./parts.mjs";

/** The panel of a charge: {node, draw(), learned()}. It sets `at.accuse`. */
export class ChargePanel {
  constructor(at) {
    this.at = at;
    this.questions = 0;
    this.answers = [];
    this.drawn = "";
    this.restored = false;
    this.accused = new ChargeForm(at, () => this.asking());
    this.suggested = h("div", { class: "chips suggested" });
    this.chips = new Map();
    this.suggestedRow = makeFormRow(say("rulings.clock-says"), this.suggested);
    this.found = h("div", { class: "answers", "aria-live": "polite" });
    const clear = h("button", { type: "button", class: "plain small", onclick: () => this.reset() }, say("rulings.clear"));
    this.node = h("section", { class: "panel charge", "aria-labelledby": "charge-title" },
      h("header", { class: "titled" }, h("h2", { id: "charge-title" }, say("rulings.charge")), clear),
      this.suggestedRow, this.accused.nodes(), this.found);
    at.accuse = (one) => this.accuse(one);
  }

  /** Empty the form for the next offence. `words`: the result of the last one. */
  reset(words = "") {
    this.questions += 1; // answers to earlier questions are ignored
    this.accused.reset();
    this.show(words ? makeSignLine("good proposed", "✓", words) : null);
  }

  accuse(one) {
    this.accused.accuse(one);
    this.at.show("desk");
    this.node.scrollIntoView({ block: "start" });
  }

  show(...nodes) {
    this.answers = [];
    fill(this.found, nodes);
  }

  /** Ask the table for the answers to this charge. Only the newest question is shown. */
  async asking() {
    this.questions += 1;
    const mine = this.questions;
    const missing = this.accused.missing();
    if (missing.length) {
      const still = say("rulings.still", { what: missing.join(say("rulings.and")) });
      this.show(this.accused.begun() ? h("p", { class: "quiet" }, still) : null);
      return;
    }
    const args = this.accused.charge();
    this.show(h("p", { class: "quiet" }, say("rulings.asking")));
    try {
      const { choices, refused } = await get(`/api/tables/${encodeURIComponent(this.at.table)}/rulings?${new URLSearchParams(args)}`);
      if (mine !== this.questions) return;
      if (refused) this.show(makeSignLine("bad", "✕", textOf(refused)));
      else this.answered(args, choices);
    } catch (error) {
      if (mine === this.questions) this.show(makeSignLine("bad", "✕", error.message));
    }
  }

  answered(args, choices) {
    const cards = choices.map((one, n) => makeAnswerCard(this.at, args, one, n, (words) => this.reset(words)));
    const named = this.discretion(args, choices);
    const [first, ...rest] = cards.map((one) => one.node);
    this.show(h("h3", null, say("rulings.answers")), showRemedy(this.at, args.offence), first,
      folded(say("rulings.other-answers", { n: rest.length }), rest, "others"),
      folded(say("rulings.discretion-more"), named.map((one) => one.node)));
    this.answers = [...cards, ...named];
    for (const one of this.answers) one.draw();
  }

  /** Return cards for the penalties outside the ladder. Only the chief may choose them (A15.3.7). */
  discretion(args, choices) {
    if (!this.at.chief()) return [];
    const rest = this.at.book.ladder.penalties.filter((each) => !choices.some((one) => one.penalty === each.id));
    return rest.map((each) => makeAnswerCard(this.at, args, {
      penalty: each.id, en: each.en, zh: each.zh, why_en: "", why_zh: "", needs: "chief", article: null,
      provisional: false, effects: [], discretion: true,
    }, 1, (words) => this.reset(words)));
  }

  learned() {
    const ladder = this.at.book?.ladder;
    shown(this.node, Boolean(ladder) && this.at.may());
    if (ladder) this.accused.learned(ladder);
  }

  draw() {
    const { state, book } = this.at;
    if (!state) return;
    shown(this.node, Boolean(book?.ladder) && this.at.may() && Boolean(state.match.match));
    this.accused.draw();
    this.restore();
    const wanted = JSON.stringify([this.at.desk.suggestions, state.match.phase, state.match.led]);
    if (wanted !== this.drawn) {
      this.drawn = wanted;
      this.suggest();
      this.accused.drawOffences();
    }
    for (const one of this.answers) one.draw();
  }

  /** Restore once an unfinished charge from before the page was loaded again. */
  restore() {
    if (this.restored || !this.at.book?.ladder || !this.at.may() || !this.at.state.match.match) return;
    this.restored = true;
    if (this.accused.restore()) this.asking();
  }

  /** Show the charges that the clocks suggest. A touch fills in the form. */
  suggest() {
    const list = this.at.desk.suggestions;
    shown(this.suggestedRow, list.length > 0);
    const chips = new Map(list.map((one) => [JSON.stringify([one, this.whose(one)]), one]));
    keyed(this.suggested, this.chips, [...chips.keys()], (key) => {
      const one = chips.get(key);
      return h("button", {
        type: "button", class: "chip clock", onclick: () => this.accuse({ ...one, pointer: "clock" }),
      }, h("span", { class: "sign", "aria-hidden": "true" }, "◔"), this.whose(one), say("rulings.colon"), textOf(one, "words"));
    });
  }

  whose(one) {
    if (one.seat) return seatText(this.at, one.seat);
    return one.side ? sideText(this.at, one.side) : "";
  }
}

function folded(words, nodes, kind = "") {
  return nodes.length ? h("details", { class: `more ${kind}` }, h("summary", null, words), nodes) : null;
}
