// Pickers: seats round a table, and a card by suit and rank.
//
// Each picker is a field of the kind "make" (fields.mjs): {node, read() → {value, fault}, focus()}.

import { cardText, RANKS, SUITS } from "../cards.mjs";
import { attr, data, h, text } from "../dom.mjs";
import { SEATS } from "../seats.mjs";
import { say } from "../words.mjs";

/** Make a picker for one seat of `choices`, at its place round the table; `names` by seat. */
export function makeSeatPicker({ label, choices, names, value = null, required }) {
  const may = choices ?? SEATS;
  let taken = value ?? (may.length === 1 && required ? may[0] : null);
  return round({ label, names, may }, {
    press: (seat) => {
      taken = taken === seat && !required ? null : seat;
    },
    mark: (seat) => (seat === taken ? "✓" : null),
    value: () => taken ?? undefined,
  });
}

/** Make a picker for seats in order. A tap on a chosen seat removes it and the later ones. */
export function makeOrderPicker({ label, names, value, max = 4, hint }) {
  const taken = [...(value ?? [])];
  return round({ label, names, may: SEATS, hint }, {
    press: (seat) => {
      const at = taken.indexOf(seat);
      if (at >= 0) taken.splice(at);
      else if (taken.length < max) taken.push(seat);
    },
    mark: (seat) => {
      const at = taken.indexOf(seat);
      return at < 0 ? null : `${at + 1} ${say(`table.place.${at + 1}`)}`;
    },
    value: () => (taken.length ? [...taken] : undefined),
  });
}

function round({ label, names = {}, may, hint }, { press, mark, value }) {
  const nodes = SEATS.map((seat) => {
    const note = h("b", { class: "note" });
    const node = h("button", { type: "button", class: "seat", data: { seat }, disabled: !may.includes(seat) },
      h("span", { class: "wind" }, say(`seat.${seat}`)), h("span", { class: "name" }, names[seat] ?? ""), note);
    node.addEventListener("click", () => {
      press(seat);
      draw();
    });
    return { seat, node, note };
  });
  const draw = () => {
    for (const { seat, node, note } of nodes) {
      const found = mark(seat);
      text(note, found ?? "");
      attr(node, "aria-pressed", String(found !== null));
    }
  };
  draw();
  return {
    node: h("fieldset", { class: "field" }, h("legend", null, label), h("div", { class: "pick-round" }, nodes.map((one) => one.node)),
      hint ? h("small", null, hint) : null),
    read: () => ({ value: value() }),
    focus: () => nodes.find((one) => !one.node.disabled)?.node.focus(),
  };
}

/** Make a picker for one card: its suit, then its rank. A joker needs one tap. */
export function makeCardPicker({ label, required }) {
  let suit = null;
  let rank = null;
  const shows = h("output", { class: "chosen" });
  const one = (value, words, act) => {
    const node = h("button", { type: "button", class: "card", data: { suit: value[0], value } }, words);
    node.addEventListener("click", () => {
      act();
      draw();
    });
    return node;
  };
  const jokers = ["BJ", "SJ"].map((card) => one(card, cardText(card), () => {
    [suit, rank] = suit === card && !required ? [null, null] : [card, ""];
  }));
  const suits = SUITS.map((each) => one(each, each, () => {
    suit = each;
    rank = rank || null;
  }));
  const ranks = RANKS.map((each) => one(each, each, () => {
    if (suit === "BJ" || suit === "SJ") suit = null;
    rank = each;
  }));
  const card = () => (suit !== null && rank !== null ? suit + rank : null);
  const draw = () => {
    for (const node of [...suits, ...jokers]) attr(node, "aria-pressed", String(node.dataset.value === suit));
    for (const node of ranks) attr(node, "aria-pressed", String(node.dataset.value === rank));
    const found = card();
    text(shows, found === null ? "–" : cardText(found));
    data(shows, "suit", found?.[0]);
  };
  draw();
  return {
    node: h("fieldset", { class: "field card-pick" }, h("legend", null, label, " ", shows),
      h("div", { class: "cards" }, suits, jokers), h("div", { class: "cards" }, ranks)),
    read: () => {
      const found = card();
      if (found === null && (suit || rank)) return { fault: say("table.pick.whole") };
      return { value: found ?? undefined };
    },
    focus: () => suits[0].focus(),
  };
}
