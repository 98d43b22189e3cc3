// The middle of the screen, in large type: the next action. It is turned towards the side that acts.

import { cardText } from "../cards.mjs";
import { data, fill, h, shown, text } from "../dom.mjs";
import { durationText } from "../time.mjs";
import { hasText, language, say, textOf } from "../words.mjs";

const DIGITS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
const SHORT_S = 10;
const EXCHANGE = new Set(["tribute", "return"]);
const OVER = new Set(["over", "signed"]);
const BEFORE_PLAY = new Set(["held", "count_check", "anti_check"]);
const BEING_PLAYED = new Set(["play", "result"]); // The level is large in these phases. In earlier ones it is in the heading.
const PLAYED = new Set(["cut", "dealing", ...BEFORE_PLAY, ...EXCHANGE, "choices", ...BEING_PLAYED]);
const LONG = { zh: 18, en: 34 }; // A line with more letters is set in smaller type.

export class DisplayMiddle {
  constructor(node, sideOf) {
    this.sideOf = sideOf;
    this.side = "bottom";
    this.typed = "";
    this.view = null;
    this.cutter = null;
    this.onChoice = () => {};
    this.head = h("p", { class: "head" });
    this.body = h("div", { class: "body" });
    this.foot = h("p", { class: "foot" });
    this.board = h("div", { class: "board" }, this.head, this.body, this.foot);
    this.huge = h("output", { class: "number" });
    this.limits = h("p", { class: "limits" });
    this.pad = this.made();
    node.append(this.board);
    this.turn("bottom");
  }

  /** Turn the text towards a side of the screen. */
  turn(side) {
    this.side = side;
    data(this.board, "turn", side);
  }

  /** Store the digits that a player typed. With "" the counter continues. */
  chosen(digits) {
    this.typed = digits;
    this.number();
    this.onChoice();
  }

  /** Return the command to cut for a seat's button: the typed number, else the counter's number. */
  cut(at, view) {
    const n = this.typed ? this.legal() : view.cut.counter;
    const { deal, attempt, by } = view.cut;
    const args = by.length ? { n, seat: at.seat } : { n };
    return { cmd: "cut", args, deal, attempt, say: this.typed ? "cut_at" : "cut" };
  }

  draw(view, table, plays) {
    const cutting = Boolean(view.cut);
    if (cutting && !this.view?.cut) {
      this.typed = "";
      if (view.cut.by.length) this.turn(this.sideOf(view.cut.by[0]));
    }
    if (!cutting && this.view?.cut) this.turn("bottom");
    this.view = view;
    fill(this.head, heading(view, table));
    data(this.board, "mode", cutting ? "cut" : view.fed !== null ? "deal" : "play");
    if (cutting) {
      fill(this.body, this.huge, this.limits, plays ? this.pad : null);
      text(this.limits, whose(view.cut));
      this.number();
    } else fill(this.body, view.fed !== null ? dealing(view) : playing(view));
    this.drawFoot(view, table);
  }

  drawFoot(view, table) {
    const parts = [];
    if (view.commitment) parts.push(h("span", null, say("display.commitment"), " ", h("code", null, view.commitment)));
    if (!view.cut && view.cut_at) parts.push(h("span", null, say("display.cut-at", { n: view.cut_at })));
    if (!view.cut && view.uncut) parts.push(h("span", null, say("display.uncut")));
    const key = JSON.stringify([view.commitment, view.cut_at, view.uncut, Boolean(view.cut)]);
    if (this.footKey !== key) fill(this.foot, parts);
    this.footKey = key;
    this.drawProof(view, table);
  }

  /** Draw the code to scan. It appears only after the hands were played. */
  drawProof(view, table) {
    const path = view.proof && !view.cut && view.fed === null ? `/proof/${table}/${view.proof.attempt}` : null;
    if (path === this.proofPath) return;
    this.proofPath = path;
    this.proof?.remove();
    if (!path) return;
    const words = say("display.proof", { n: view.proof.deal });
    const picture = h("img", {
      src: `/qr.svg?text=${encodeURIComponent(path)}`,
      alt: words,
      onerror: () => shown(this.proof, false),
    });
    this.proof = h("figure", { class: "proof" }, picture, h("figcaption", null, words));
    this.board.append(this.proof);
  }

  number() {
    const cut = this.view?.cut;
    if (!cut) return;
    text(this.huge, this.typed || (cut.counter ?? "–"));
    data(this.huge, "typed", this.typed ? "yes" : null);
    data(this.huge, "illegal", this.typed && this.legal() === null ? "yes" : null);
  }

  legal() {
    const { least, most } = this.view.cut;
    const n = Number(this.typed);
    return n >= least && n <= most ? n : null;
  }

  made() {
    const type = (digit) => () => this.chosen(`${this.typed}${digit}`.replace(/^0+/, "").slice(-3));
    const key = (digit) => h("button", { type: "button", onclick: type(digit) }, digit);
    const back = () => this.chosen(this.typed.slice(0, -1));
    return h(
      "div",
      { class: "pad", role: "group", "aria-label": say("display.pad") },
      DIGITS.map(key),
      h("button", { type: "button", onclick: () => this.chosen(""), class: "word" }, say("display.clear")),
      key("0"),
      h("button", { type: "button", onclick: back, "aria-label": say("display.back") }, "⌫"),
    );
  }
}

function heading(view, table) {
  const parts = [h("b", null, say("display.table", { table: view.table_no ?? table }))];
  if (view.round && !PLAYED.has(view.phase)) parts.push(h("span", null, say("display.match", { round: view.round, match: view.match_no ?? "" })));
  if (view.deal) parts.push(h("span", null, view.extra ? say("display.extra") : say("display.deal", { n: view.deal })));
  if (view.level && PLAYED.has(view.phase) && !BEING_PLAYED.has(view.phase)) parts.push(h("b", null, say("display.level", { level: view.level })));
  if (view.simulated) parts.push(h("span", null, say("display.simulated")));
  if (view.practice) parts.push(h("span", null, say("display.practice")));
  parts.push(h("span", { class: "phase" }, view.machine === "fault" ? say("display.fault") : textOf(view, "phase")));
  if (view.announced && hasText(`display.announced.${view.announced}`)) {
    parts.push(h("b", { class: "announced" }, say(`display.announced.${view.announced}`)));
  }
  if (view.clock && !OVER.has(view.phase)) parts.push(h("span", { class: "clock" }, say(view.clock.running ? "display.left" : "display.stands", { time: durationText(view.clock.left_s * 1000) })));
  return parts;
}

function whose(cut) {
  const who = cut.by.map((seat) => say("display.of", { seat: say(`seat.${seat}`) })).join(say("display.or"));
  const limits = { least: cut.least, most: cut.most };
  return who ? say("display.cuts", { who, ...limits }) : say("display.anybody-cuts", limits);
}

function dealing(view) {
  return [
    h("output", { class: "number" }, view.fed),
    h("p", { class: "next" }, view.ready_in_s === null ? textOf(view, "next") : say("display.ready-in", { s: Math.ceil(view.ready_in_s) })),
  ];
}

function playing(view) {
  const stopped = view.machine === "fault";
  const words = stopped ? say("display.wait") : textOf(view, "next");
  const alarm = stopped || view.suspended ? "next alarm" : "next";
  const lines = alarm === "next" ? duties(view) : [];
  const large = BEING_PLAYED.has(view.phase);
  // The lines of the exchange are shown once, large, with their clocks.
  const said = alarm === "next" && view.exchange?.said;
  return [
    said ? null : h("p", { class: alarm, data: { long: words.length > LONG[language] } }, words),
    view.phase === "held" ? h("p", { class: "also" }, say("display.take")) : null,
    h("div", { class: "facts" }, large ? level(view) : null, h("ul", { class: "duties" }, lines)),
    h("ul", { class: "countdowns" }, view.countdowns.map(countdown)),
  ];
}

function level(view) {
  if (!view.level) return null;
  const sides = ["NS", "EW"].map((side) =>
    h("span", { class: "side", data: { owner: side === view.owner } },
      view.owner === side ? "▸ " : "", say(`side.${side}`), " ", h("b", null, view.levels[side] ?? "–")),
  );
  return h("div", { class: "level" }, h("p", { class: "now" }, say("display.level", { level: view.level })), h("p", null, sides));
}

/** Return the duties and the leader, while they concern the present phase. */
function duties(view) {
  const seat = (one) => say(`seat.${one}`);
  if (view.exchange) return exchange(view.exchange, seat);
  if (view.turned_up && BEFORE_PLAY.has(view.phase)) return [h("li", null, say("display.turned-up", { card: view.turned_up, seat: view.leader ? seat(view.leader) : "" }))];
  return [];
}

function exchange({ pays, gives, equal, said }, seat) {
  const owed = (done, words, clock) => h("li", { data: { due: said && !done, short: isShort(clock) } },
    done ? "✓ " : "", words, clock && !done ? [" · ", clock.running ? "" : "‖ ", h("b", null, left(clock))] : null);
  return [
    pays.map((one) => {
      const due = one.card ? say("display.required", { card: cardText(one.card) }) : "";
      const whom = one.to ? say("display.pays", { from: seat(one.giver), to: seat(one.to) }) : say("display.owes", { from: seat(one.giver) });
      return owed(one.laid, whom + due, one.clock);
    }),
    equal && said ? h("li", null, say("display.equal")) : null,
    gives.map((one) => owed(one.given, say(`display.gives.${one.rule}`, { from: seat(one.giver), to: seat(one.to) }), one.clock)),
  ];
}

function countdown(one) {
  const who = one.seat ? say("display.whose", { seat: say(`seat.${one.seat}`) }) : one.side ? say("display.sides", { side: say(`side.${one.side}`) }) : "";
  const what = hasText(`display.duty.${one.duty}`) ? say(`display.duty.${one.duty}`) : one.duty;
  return h("li", { data: { short: isShort(one) } }, `${one.running ? "" : "‖ "}${who}${what} `, h("b", null, left(one)));
}

function isShort(clock) {
  return Boolean(clock) && clock.left_s <= SHORT_S;
}

function left(clock) {
  return clock.left_s > 0 ? say("display.seconds", { s: clock.left_s }) : say("display.over");
}
