// The form of an offence: the accused, the offence and its kind, who pointed it out and when, and
// rarer details. The form sends no request. It calls `onchange` after each change.

import { fill, h, shown } from "../dom.mjs";
import { storeWindowValue, windowValue } from "../storage.mjs";
import { SEATS, SIDES } from "../seats.mjs";
import { say, textOf } from "../words.mjs";
import { penaltySteps } from "./counters.mjs";
import { makeChoiceButtons, makeFormRow, makeSwitch, seatText, showArticle, sideText } from "./parts.mjs";

/** The storage name of an unfinished charge. */
const DRAFT = "charge";
const NOTHING = { who: null, offence: null, kind: null, step: null };
const WHENS = ["at_once", "later_trick", "later_deal"];
const OVERRUNS = [1, 2, 3];
const POINTERS = ["referee", "clock", "outsider"];

export class ChargeForm {
  constructor(at, onchange) {
    this.at = at;
    this.onchange = () => {
      this.keep();
      onchange();
    };
    this.said = { ...NOTHING };
    this.group = "likely";
    this.makeWhoAndWhat();
    this.makeHow();
    this.makePointedOut();
    this.makeMore();
  }

  makeWhoAndWhat() {
    this.who = makeChoiceButtons({ label: say("rulings.who"), options: [], onchange: (value) => this.tell({ who: value }) });
    this.groups = makeChoiceButtons({ label: say("rulings.groups"), options: [], value: this.group, onchange: (value) => {
      this.group = value ?? "likely";
      this.drawOffences();
    } });
    this.offences = makeChoiceButtons({
      label: say("rulings.what"), options: [],
      onchange: (value) => this.tell({ offence: value, kind: null, step: null }),
    });
    this.about = h("div", { class: "about-offence" });
  }

  makeHow() {
    this.kinds = makeChoiceButtons({ label: say("rulings.kinds"), options: [], free: true, onchange: (value) => this.tell({ kind: value }) });
    this.step = makeChoiceButtons({
      label: say("rulings.overrun"), free: true, onchange: (value) => this.tell({ step: value }),
      options: OVERRUNS.map((one) => [one, say("rulings.overrun-no", { no: one })]),
    });
    this.harmed = makeSwitch(say("rulings.harmed"), { hint: say("rulings.harmed-hint"), onchange: this.onchange });
    this.rows = {
      kinds: makeFormRow(say("rulings.kinds"), this.kinds.node),
      step: makeFormRow(say("rulings.overrun"), this.step.node),
      harmed: makeFormRow("", this.harmed.node),
    };
  }

  makePointedOut() {
    this.pointer = makeChoiceButtons({ label: say("rulings.pointed-out-by"), options: [], onchange: this.onchange });
    this.when = makeChoiceButtons({
      label: say("rulings.pointed-out-when"), value: "at_once", onchange: this.onchange,
      options: WHENS.map((one) => [one, say(`rulings.when.${one}`)]),
    });
  }

  makeMore() {
    const one = (key, hint = "") => makeSwitch(say(`rulings.lapse.${key}`), { hint, onchange: this.onchange });
    this.lapses = {
      outsider_first: one("outsider_first"), acted_first: one("acted_first"), exploited: one("exploited"),
      lapse_disputed: one("lapse_disputed", say("rulings.disputed-hint")),
    };
    this.settled = makeChoiceButtons({
      label: say("rulings.settled"), free: true, onchange: this.onchange,
      options: ["recognised", "annulled"].map((each) => [each, say(`rulings.settled.${each}`)]),
    });
    this.deal = h("input", {
      type: "number", min: 0, inputmode: "numeric", "aria-label": say("rulings.deal-of-offence"), onchange: this.onchange,
    });
    this.more = h("details", { class: "more" }, h("summary", null, say("rulings.more")),
      h("fieldset", null, h("legend", null, say("rulings.lapse"), " ", h("span", { class: "article" }, "A15.3.8")),
        Object.values(this.lapses).map((each) => each.node)),
      makeFormRow(say("rulings.settled"), this.settled.node),
      makeFormRow(say("rulings.deal-of-offence"), this.deal));
  }

  /** Return the rows of the form, in the order in which a referee hears the facts. */
  nodes() {
    return [
      makeFormRow(say("rulings.who"), this.who.node),
      makeFormRow(say("rulings.what"), h("div", { class: "groups" }, this.groups.node), this.offences.node),
      this.about, this.rows.kinds, this.rows.step, this.rows.harmed,
      makeFormRow(say("rulings.pointed-out-by"), this.pointer.node),
      makeFormRow(say("rulings.pointed-out-when"), this.when.node), this.more,
    ];
  }

  tell(news) {
    Object.assign(this.said, news);
    this.drawParts();
    this.onchange();
  }

  /** Empty the form. The player who pressed red is preset as the one who pointed it out. */
  reset() {
    Object.assign(this.said, NOTHING);
    for (const one of [this.who, this.offences, this.kinds, this.step, this.settled]) one.set(null);
    this.when.set("at_once");
    this.pointer.set(this.caller());
    for (const one of this.switches()) one.set(false);
    this.deal.value = "";
    this.drawParts();
    storeWindowValue(DRAFT, null);
  }

  switches() {
    return [this.harmed, ...Object.values(this.lapses)];
  }

  /** Store the unfinished charge. The page may be loaded again, for example in another language. */
  keep() {
    const { match, deal } = this.at.state?.match ?? {};
    if (!match || !this.begun()) return;
    storeWindowValue(DRAFT, {
      match, deal, said: this.said, group: this.group, pointer: this.pointer.value(), when: this.when.value(),
      settled: this.settled.value(), switches: this.switches().map((one) => one.value()), of: this.deal.value,
    });
  }

  /** Restore the stored charge of this match. Return true if there was one. */
  restore() {
    const draft = windowValue(DRAFT);
    const { match, deal } = this.at.state.match;
    if (draft?.match !== match) return false;
    Object.assign(this.said, draft.said);
    this.group = draft.group;
    this.groups.set(draft.group);
    this.who.set(draft.said.who);
    this.pointer.set(draft.pointer);
    this.when.set(draft.when);
    this.settled.set(draft.settled);
    this.switches().forEach((one, at) => one.set(draft.switches[at]));
    // Without an entered deal, the charge was about the deal of that time.
    this.deal.value = draft.of || (draft.deal === deal ? "" : String(draft.deal));
    this.drawOffences();
    this.drawParts();
    return true;
  }

  /** Fill in the known facts of an offence. A referee continues from there or clears the form. */
  accuse(one) {
    this.reset();
    const place = one.seat ?? one.side ?? null;
    this.who.set(place);
    if (one.pointer) this.pointer.set(one.pointer);
    Object.assign(this.said, { who: place, offence: one.offence, step: one.step });
    this.group = "likely";
    this.groups.set(this.group);
    this.drawOffences();
    this.tell({});
  }

  /** Return the missing facts in words, or "" if the table can be asked. */
  missing() {
    const due = [
      [say("rulings.who"), this.said.who], [say("rulings.what"), this.said.offence],
      [say("rulings.pointed-out-by"), this.pointer.value()],
    ];
    return due.filter(([, value]) => !value).map(([words]) => words);
  }

  begun() {
    return Boolean(this.said.who || this.said.offence);
  }

  /** Return the charge as arguments of the command. */
  charge() {
    const { who, offence, kind, step } = this.said;
    const args = {
      offence, pointed_out_by: this.pointer.value() ?? "referee", pointed_out_when: this.when.value() ?? "at_once",
      [SEATS.includes(who) ? "seat" : "side"]: who,
    };
    for (const [name, one] of Object.entries({ harmed: this.harmed, ...this.lapses })) if (one.value()) args[name] = true;
    if (this.settled.value()) args.settled_by_players = this.settled.value();
    if (kind) args.kind = kind;
    if (step && clocked(this.offence())) args.step = step;
    if (this.deal.value !== "") args.deal = Number(this.deal.value);
    return args;
  }

  caller() {
    return this.at.state?.calls.find((call) => call.reason === "button" && call.seat)?.seat ?? null;
  }

  offence() {
    return this.at.book?.ladder?.groups.flatMap((one) => one.offences).find((one) => one.id === this.said.offence);
  }

  drawParts() {
    const one = this.offence();
    shown(this.rows.kinds, Boolean(one?.kinds.length));
    if (one) this.kinds.options(one.kinds.map((kind) => [kind.id, textOf(kind), { title: kind.article ?? "" }]));
    this.kinds.set(this.said.kind);
    shown(this.rows.harmed, Boolean(one?.foul_if_harmed));
    shown(this.rows.step, clocked(one) && one.steps.length > 1);
    this.step.set(this.said.step);
    fill(this.about, one ? h("details", { class: "rule" }, h("summary", null, textOf(one), " ", showArticle(one.article)), penaltySteps(one)) : null);
  }

  drawOffences() {
    const ladder = this.at.book?.ladder;
    if (!ladder) return;
    const match = this.at.state?.match;
    const fits = (one) => !one.when || !match || (one.when === "behind_lead") === Boolean(match.led);
    const why = (one) => (fits(one) ? one.article ?? say("rulings.provisional") : say(`rulings.only.${one.when}`));
    this.offences.options(this.listed(ladder, match).map((one) => [one.id, textOf(one), { disabled: !fits(one), title: why(one) }]));
    this.offences.set(this.said.offence);
  }

  /** Return the offences of the chosen group, or the likely ones of the phase. */
  listed(ladder, match) {
    const group = ladder.groups.find((one) => one.id === this.group);
    if (group) return group.offences;
    const all = new Map(ladder.groups.flatMap((one) => one.offences.map((each) => [each.id, each])));
    return (ladder.likely[match?.phase] ?? ladder.likely.play).map((name) => all.get(name)).filter(Boolean);
  }

  /** Show the groups after the rulebook was received. */
  learned(ladder) {
    const byHand = this.at.state?.match.by_hand;
    this.groups.options([["likely", say("rulings.likely")],
      ...ladder.groups.filter((one) => one.id !== "drawing" || byHand).map((one) => [one.id, textOf(one)])]);
    this.groups.set(this.group);
    this.drawOffences();
    this.drawParts();
  }

  /** Draw the present state of the table. */
  draw() {
    const deals = String(this.at.state.match.deal ?? 0);
    const seats = SEATS.map((one) => [one, seatText(this.at, one)]);
    this.who.options([...seats, ...SIDES.map((one) => [one, sideText(this.at, one)])]);
    this.pointer.options([...seats, ...POINTERS.map((one) => [one, say(`rulings.pointer.${one}`)])]);
    if (!this.pointer.value() && this.caller()) this.pointer.set(this.caller());
    this.deal.placeholder = deals;
    this.deal.max = deals;
  }
}

/** Return true if an offence is an overrun of time, which has a number. */
const clocked = (one) => Boolean(one?.id.startsWith("delay_"));
