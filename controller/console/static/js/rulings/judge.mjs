// The combination judge: a person taps the cards, and the rulebook's code gives the answer.

import { get, post } from "../api.mjs";
import { cardText, LEVELS, RANKS, SUITS } from "../cards.mjs";
import { fill, h, shown } from "../dom.mjs";
import { storedValue, storeValue } from "../storage.mjs";
import { say, textOf } from "../words.mjs";
import { showContainedKinds, showVerdict } from "./play-verdict.mjs";
import { makeChoiceButtons, makeFormRow, makeSignLine, makeSwitch } from "./parts.mjs";
import { PlayForm, suitLetter } from "./play-form.mjs";

const BOOKS = ["international-000", "huaian-2017-001", "huainan-2013-003", "bcta-004", "bigtwo-2017-002"];
const PLAYS = ["on", "play"];

/** The panel: {node, draw(), learned()}. */
export class JudgePanel {
  constructor(at) {
    this.at = at;
    this.name = null;
    this.book = null;
    this.level = null;
    this.levelOfTable = null;
    this.tapped = false;
    this.active = "play";
    this.questions = 0;
    this.makeChoices();
    this.makeCards();
    this.node = h("div", { class: "two judging" }, this.asked(), h("section", { class: "panel answered", "aria-labelledby": "answer-title" },
      h("h2", { id: "answer-title" }, say("rulings.answer")), this.answer));
    this.into("play");
  }

  makeChoices() {
    this.names = makeChoiceButtons({
      label: say("rulings.rulebook"), options: BOOKS.map((name) => [name, say(`rulings.book.${name}`)]),
      onchange: (name) => this.choose(name),
    });
    this.levels = makeChoiceButtons({ label: say("rulings.level"), options: LEVELS.map((one) => [one, one]), onchange: (one) => {
      this.tapped = true;
      this.playAt(one);
    } });
    this.which = makeChoiceButtons({
      label: say("rulings.tap-into"), value: "play", onchange: (one) => this.into(one),
      options: [["on", say("rulings.on-table")], ["play", say("rulings.the-play")]],
    });
    this.contained = makeSwitch(say("rulings.contained"), { hint: say("rulings.contained-hint"), onchange: () => this.mode() });
  }

  makeCards() {
    const played = (name) => new PlayForm({
      wild: (card) => this.wild(card), chosen: () => this.into(name), changed: () => this.changed(),
    });
    this.plays = Object.fromEntries(PLAYS.map((name) => [name, played(name)]));
    this.deck = h("div", { class: "deck" });
    this.typed = h("input", {
      type: "text", maxlength: 120, autocomplete: "off", "aria-label": say("rulings.typed"), placeholder: say("rulings.typed-hint"),
      onkeydown: (event) => {
        if (event.key === "Enter") this.take();
      },
    });
    this.answer = h("div", { class: "ruling", role: "status" });
    this.rows = {
      levels: makeFormRow(say("rulings.level"), this.levels.node),
      on: makeFormRow(say("rulings.on-table"), this.plays.on.node),
      into: makeFormRow(say("rulings.tap-into"), this.which.node),
    };
  }

  /** Make the part of the panel with the question. */
  asked() {
    return h("section", { class: "panel", "aria-labelledby": "judge-title" },
      h("header", { class: "titled" }, h("h2", { id: "judge-title" }, say("rulings.judge")),
        h("button", { type: "button", class: "plain small", onclick: () => this.empty() }, say("rulings.clear"))),
      h("details", { class: "more" }, h("summary", null, say("rulings.rulebook")), this.names.node),
      this.rows.levels, this.rows.on, makeFormRow(say("rulings.the-play"), this.plays.play.node), this.rows.into, this.deck,
      h("div", { class: "row typed" }, this.typed, h("button", { type: "button", class: "plain", onclick: () => this.take() }, say("rulings.take"))),
      this.contained.node);
  }

  get guandan() {
    return this.book?.game !== "bigtwo";
  }

  wild(card) {
    return this.guandan && card === `♥${this.level}`;
  }

  into(name) {
    this.active = name;
    this.which.set(name);
    for (const each of PLAYS) this.plays[each].active(each === name);
  }

  tap(card) {
    const most = this.guandan ? 2 : 1;
    const used = PLAYS.flatMap((name) => this.plays[name].cards).filter((one) => one === card).length;
    if (used < most) this.plays[this.active].take(card);
    else this.at.tell(say("rulings.no-more-of", { card: cardText(card), most }), "bad");
  }

  /** Add the typed cards. The console parses them with the rulebook's own parser. */
  take() {
    const said = this.typed.value.trim();
    if (!said) return;
    this.typed.value = "";
    this.plays[this.active].take(...said.split(/\s+/));
  }

  drawDeck() {
    const button = (card) => h("button", {
      type: "button", class: "card", data: { suit: suitLetter(card), wild: this.wild(card) ? "yes" : null },
      "aria-label": this.wild(card) ? `${cardText(card)}, ${say("rulings.wild")}` : cardText(card), onclick: () => this.tap(card),
    }, cardText(card));
    fill(this.deck, this.guandan ? h("div", null, button("BJ"), button("SJ")) : null,
      SUITS.map((suit) => h("div", null, RANKS.map((rank) => button(suit + rank)))));
    for (const name of PLAYS) this.plays[name].draw();
  }

  /** Switch between two questions: compare two plays, or list what a wrong play contains. */
  mode() {
    shown(this.rows.on, !this.contained.value());
    shown(this.rows.into, !this.contained.value());
    if (this.contained.value()) this.into("play");
    this.changed();
  }

  empty() {
    this.tapped = false;
    this.levelOfTable = null;
    for (const name of PLAYS) this.plays[name].empty();
    this.draw();
    this.changed();
  }

  async changed() {
    this.questions += 1;
    const mine = this.questions;
    const { play, on } = this.plays;
    if (!play.cards.length || !this.name || (this.guandan && !this.level)) {
      fill(this.answer, h("p", { class: "quiet" }, say("rulings.judge-empty")));
      return;
    }
    const contained = this.contained.value() && this.guandan;
    try {
      const found = await post("/api/judge", {
        profile: this.name, level: this.guandan ? this.level : null, contained, play: play.asked(),
        on: on.cards.length && !contained ? on.asked() : null,
      });
      if (mine === this.questions) this.show(found);
    } catch (error) {
      if (mine === this.questions) fill(this.answer, makeSignLine("bad", "✕", error.message));
    }
  }

  show(found) {
    if (found.type === "nonsense") {
      fill(this.answer, makeSignLine("bad", "✕", textOf(found)));
      return;
    }
    if (found.type === "containing") {
      this.plays.play.read(null);
      fill(this.answer, showContainedKinds(this.book, found));
      return;
    }
    this.plays.play.read(found.play, this.guandan);
    this.plays.on.read(found.table, this.guandan);
    const wrong = !found.legal && this.guandan;
    fill(this.answer, showVerdict(found), wrong
      ? h("p", null, h("button", { type: "button", class: "plain", onclick: () => this.askContained() }, say("rulings.contained"))) : null);
  }

  askContained() {
    this.contained.set(true);
    this.mode();
  }

  /** Load a rulebook: the table's, or another that a person selects. */
  async choose(name) {
    this.name = name;
    let other = false;
    try {
      const book = this.at.book?.name === name ? this.at.book : await get(`/api/rulebooks/${encodeURIComponent(name)}`);
      if (this.name !== name) return;
      other = this.book !== null && this.book.name !== name;
      this.book = book;
    } catch (error) {
      this.at.tell(error.message, "bad");
      return;
    }
    shown(this.rows.levels, this.guandan);
    shown(this.contained.node, this.guandan);
    if (!this.guandan) this.contained.set(false);
    if (other) this.empty(); // the cards were tapped for the earlier rulebook
    this.drawDeck();
    this.mode();
  }

  playAt(level) {
    this.level = level;
    this.levels.set(level);
    this.drawDeck();
    this.changed();
  }

  learned() {
    this.names.set(this.at.book.name);
    this.choose(this.at.book.name);
  }

  /** Use the table's level until a person taps another one for a question about another deal. */
  draw() {
    const now = this.at.state?.match.level ?? null;
    if (now !== this.levelOfTable && !this.tapped) {
      this.levelOfTable = now;
      if (LEVELS.includes(now) && now !== this.level) this.playAt(now);
    }
    if (!this.level) this.playAt(storedValue("judge.level", "2"));
    storeValue("judge.level", this.level);
  }
}
