// The combination judge: cards are tapped by who sees them; the rulebook answers, not a guess.

import { get, post } from "../api.mjs";
import { LEVELS, RANKS, SUITS, cardWords } from "../cards.mjs";
import { data, fill, h, shown } from "../dom.mjs";
import { keep, kept } from "../kept.mjs";
import { both, say } from "../words.mjs";
import { judged, kindWords, rankOf, reasons, spokenAs } from "./judged.mjs";
import { chips, toggle } from "./parts.mjs";

const BOOKS = ["international-000", "huaian-2017-001", "huainan-2013-003", "bcta-004", "bigtwo-2017-002"];

/** The panel: {node, draw(), learned()}. */
export function judge(at) {
  const book = { name: null, value: null };
  let game = "guandan";
  let questions = 0;
  let level = null;
  let tapped = false;
  let levelOfTable = null;

  const names = chips({
    label: say("rulings.rulebook"), options: BOOKS.map((name) => [name, say(`rulings.book.${name}`)]),
    onchange: (name) => {
      book.name = name;
      suited();
    },
  });
  const levels = chips({
    label: say("rulings.level"), options: LEVELS.map((one) => [one, one]),
    onchange: (one) => {
      level = one ?? level;
      tapped = true;
      deck();
      changed();
    },
  });
  const plays = { play: hand("play"), on: hand("on") };
  let active = "play";
  const which = chips({
    label: say("rulings.tap-into"), value: "play",
    options: [["on", say("rulings.on-table")], ["play", say("rulings.the-play")]],
    onchange: (one) => {
      active = one ?? "play";
      for (const [name, each] of Object.entries(plays)) data(each.node, "active", name === active ? "yes" : null);
    },
  });
  const contained = toggle(say("rulings.contained"), { hint: say("rulings.contained-hint"), onchange: () => {
    drawMode();
    changed();
  } });
  const cards = h("div", { class: "deck" });
  const typed = h("input", {
    type: "text", maxlength: 120, autocomplete: "off", "aria-label": say("rulings.typed"),
    placeholder: say("rulings.typed-hint"),
    onkeydown: (event) => {
      if (event.key === "Enter") take();
    },
  });
  const answer = h("div", { class: "ruling", role: "status" });
  const rows = {
    levels: h("div", { class: "row" }, h("span", { class: "label" }, say("rulings.level")), levels.node),
    on: h("div", { class: "row" }, h("span", { class: "label" }, say("rulings.on-table")), plays.on.node),
    play: h("div", { class: "row" }, h("span", { class: "label" }, say("rulings.the-play")), plays.play.node),
  };
  const node = h("div", { class: "two judging" },
    h("section", { class: "panel", "aria-labelledby": "judge-title" },
      h("header", { class: "titled" }, h("h2", { id: "judge-title" }, say("rulings.judge")),
        h("button", { type: "button", class: "plain small", onclick: empty }, say("rulings.clear"))),
      h("details", { class: "more" }, h("summary", null, say("rulings.rulebook")), names.node),
      rows.levels, rows.on, rows.play,
      h("div", { class: "row" }, h("span", { class: "label" }, say("rulings.tap-into")), which.node),
      cards,
      h("div", { class: "row typed" }, typed, h("button", { type: "button", class: "plain", onclick: take }, say("rulings.take"))),
      contained.node),
    h("section", { class: "panel answered", "aria-labelledby": "answer-title" },
      h("h2", { id: "answer-title" }, say("rulings.answer")), answer));

  function hand(name) {
    const taken = [];
    const line = h("output", { class: "cards" });
    const declared = h("div", { class: "declared" });
    const box = h("div", { class: "hand", onclick: () => {
      which.set(name);
      active = name;
      for (const [each, other] of Object.entries(plays)) data(other.node, "active", each === active ? "yes" : null);
    } }, line, declared);
    const state = { node: box, taken, declared: null, text: () => taken.join(" ") };
    state.draw = () => fill(line, taken.length ? taken.map((card, n) => h("button", {
      type: "button", class: "card", data: { suit: suitOf(card), wild: wild(card) ? "yes" : null },
      "aria-label": say("rulings.take-away", { card: cardWords(card) }),
      onclick: (event) => {
        event.stopPropagation();
        taken.splice(n, 1);
        state.declared = null;
        state.draw();
        changed();
      },
    }, cardWords(card), wild(card) ? h("small", null, say("rulings.wild")) : null)) : h("span", { class: "quiet" }, say("rulings.no-cards")));
    state.say = (judged) => {
      const readings = judged?.readings ?? [];
      const due = readings.length > 1 && game === "guandan";
      shown(declared, due);
      if (!due) return;
      const made = chips({
        label: say("rulings.declared"), free: true, value: state.declared,
        options: readings.slice(0, 14).map((one) => [spokenAs(one), both(one) + " " + one.cards.map(rankOf).join("")]),
        onchange: (one) => {
          state.declared = one;
          changed();
        },
      });
      fill(declared, h("span", { class: "label" }, judged.declaration_due ? say("rulings.declaration-due") : say("rulings.declared")), made.node);
    };
    return state;
  }

  const wild = (card) => game === "guandan" && card === `♥${level}`;

  function most(card) {
    return game === "guandan" ? 2 : 1;
  }

  function used(card) {
    return [...plays.play.taken, ...plays.on.taken].filter((one) => one === card).length;
  }

  function tap(card) {
    const into = plays[active];
    if (used(card) >= most(card)) {
      at.tell(say("rulings.no-more-of", { card: cardWords(card), most: most(card) }), "bad");
      return;
    }
    into.taken.push(card);
    into.declared = null;
    into.draw();
    changed();
  }

  /** Cards as people write them go to the rulebook's own reader, not to one of this page's. */
  function take() {
    const said = typed.value.trim();
    if (!said) return;
    plays[active].taken.push(...said.split(/\s+/));
    plays[active].declared = null;
    typed.value = "";
    plays[active].draw();
    changed();
  }

  function deck() {
    const button = (card) => h("button", {
      type: "button", class: "card", data: { suit: suitOf(card), wild: wild(card) ? "yes" : null },
      "aria-label": wild(card) ? `${cardWords(card)}, ${say("rulings.wild")}` : cardWords(card), onclick: () => tap(card),
    }, cardWords(card));
    fill(cards, game === "guandan" ? h("div", null, button("BJ"), button("SJ")) : null,
      SUITS.map((suit) => h("div", null, RANKS.map((rank) => button(suit + rank)))));
    for (const one of Object.values(plays)) one.draw();
  }

  function drawMode() {
    shown(rows.on, !contained.value());
    if (contained.value()) {
      which.set("play");
      active = "play";
    }
  }

  function empty() {
    tapped = false;
    levelOfTable = null;
    for (const one of Object.values(plays)) {
      one.taken.length = 0;
      one.declared = null;
      one.draw();
      one.say(null);
    }
    followTable();
    changed();
  }

  async function changed() {
    questions += 1;
    const mine = questions;
    if (!plays.play.taken.length || !book.name || (game === "guandan" && !level)) {
      fill(answer, h("p", { class: "quiet" }, say("rulings.judge-empty")));
      return;
    }
    const question = {
      profile: book.name, level: game === "guandan" ? level : null, contained: contained.value() && game === "guandan",
      play: { cards: plays.play.text(), declared: plays.play.declared },
      on: plays.on.taken.length && !contained.value() ? { cards: plays.on.text(), declared: plays.on.declared } : null,
    };
    try {
      const found = await post("/api/judge", question);
      if (mine === questions) show(found);
    } catch (error) {
      if (mine === questions) fill(answer, h("p", { class: "bad" }, h("span", { class: "sign" }, "✕"), error.message));
    }
  }

  function show(found) {
    if (found.type === "nonsense") {
      fill(answer, h("p", { class: "bad" }, h("span", { class: "sign" }, "✕"), both(found)));
      return;
    }
    if (found.type === "containing") {
      plays.play.say(null);
      fill(answer, h("p", { class: "verdict" }, say("rulings.contains")),
        h("ul", { class: "kinds" }, found.kinds.map((kind) => h("li", null, kindWords(book.value, kind)))),
        h("p", null, say("rulings.left-names")), reasons(found.reasons));
      return;
    }
    plays.play.say(found.play);
    plays.on.say(found.table);
    fill(answer,
      h("p", { class: "verdict", data: { legal: found.legal ? "yes" : "no" } },
        h("span", { class: "sign", "aria-hidden": "true" }, found.legal ? "✓" : "✕"), both(found)),
      found.provisional ? h("p", { class: "provisional" }, say("rulings.rests-on-provisional")) : null,
      reasons(found.reasons), found.table ? judged(found.table, say("rulings.on-table")) : null,
      judged(found.play, say("rulings.the-play")),
      !found.legal && game === "guandan" ? h("p", null, h("button", { type: "button", class: "plain", onclick: askContained }, say("rulings.contained"))) : null);
  }

  function askContained() {
    contained.set(true);
    drawMode();
    changed();
  }

  /** The rulebook of this table; which level is played is the table's, until somebody taps another. */
  function suited() {
    const done = async () => {
      const known = at.book?.name === book.name ? at.book : await get(`/api/rulebooks/${encodeURIComponent(book.name)}`);
      book.value = known;
      game = known.game;
      shown(rows.levels, game === "guandan");
      shown(contained.node, game === "guandan");
      if (game !== "guandan") contained.set(false);
      empty();
      deck();
      drawMode();
    };
    done().catch((error) => at.tell(error.message, "bad"));
  }

  /** The level is the table's, until somebody taps another: a question may be about another deal. */
  function followTable() {
    const now = at.state?.match.level ?? null;
    if (now !== levelOfTable && !tapped) {
      levelOfTable = now;
      if (now && LEVELS.includes(now) && now !== level) {
        level = now;
        levels.set(now);
        deck();
        changed();
      }
    }
    if (!level) {
      level = kept("judge.level", "2");
      levels.set(level);
      deck();
    }
    keep("judge.level", level);
  }

  data(plays.play.node, "active", "yes");
  return {
    node,
    learned: () => {
      book.name = at.book.name;
      names.set(book.name);
      suited();
    },
    draw: followTable,
  };
}

function suitOf(card) {
  return card === "BJ" ? "B" : card === "SJ" ? "S" : card[0];
}
