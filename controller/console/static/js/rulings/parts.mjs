// Elements that several panels of the ruling desk use.

import { post } from "../api.mjs";
import { senderText } from "../sender.mjs";
import { h } from "../dom.mjs";
import { storedValue, storeValue } from "../storage.mjs";
import { sideOf, SIDES } from "../seats.mjs";
import { say, textOf } from "../words.mjs";

/** Return a seat with its player's name: 北 李娜. */
export function seatText(at, seat) {
  const name = at.state?.match.pairs[sideOf(seat)]?.players?.[seat];
  return name ? `${say(`seat.${seat}`)} ${name}` : say(`seat.${seat}`);
}

/** Return a side with its pair's number and name. */
export function sideText(at, side) {
  const pair = at.state?.match.pairs[side];
  return pair ? `${say(`side.${side}`)} ${pair.id} ${pair.name}` : say(`side.${side}`);
}

/** Return the subject of a ruling: the seat, or the side if no seat is named. */
export function rulingSubjectText(at, one) {
  return one.seat ? seatText(at, one.seat) : sideText(at, one.side);
}

/** Show an article, or that the rulebook has none and the rule is provisional. */
export function showArticle(words, provisional = false) {
  if (!words) return h("span", { class: "article provisional" }, say("rulings.provisional"));
  return h("span", { class: "article" }, words,
    provisional ? h("span", { class: "provisional" }, say("rulings.partly-provisional")) : null);
}

/** Return the source of a spoken decision: the chief, and the person who entered it. */
export function spokenSourceText(chief, entered) {
  return say("rulings.by-mouth", { chief, by: senderText(entered) });
}

/** Show what happens to the cards after an offence, independent of the penalty; null if unknown. */
export function showRemedy(at, offence) {
  const one = at.book?.ladder?.groups.flatMap((group) => group.offences).find((each) => each.id === offence);
  return one ? h("p", { class: "remedy" }, h("b", null, say("rulings.cards-then")), textOf(one, "remedy")) : null;
}

/** Make a row of buttons, one of which can be chosen: {node, value(), set(value), options(list)}.
 *
 * `options`: [[value, words, {disabled, title}?]…]. With `free`, a second tap removes the choice.
 */
export function makeChoiceButtons({ label, options, value = null, free = false, onchange = () => {} }) {
  let chosen = value;
  const row = h("div", { class: "chips", role: "group", "aria-label": label });
  const draw = (list) => {
    row.replaceChildren(...list.map(([one, words, more = {}]) => h("button", {
      type: "button", class: more.class ?? "chip", disabled: Boolean(more.disabled), title: more.title,
      "aria-pressed": String(one === chosen),
      onclick: () => {
        choose(free && one === chosen ? null : one);
        onchange(chosen);
      },
    }, words)));
  };
  let listed = options;
  const choose = (one) => {
    chosen = one;
    listed.forEach(([each], at) => row.children[at]?.setAttribute("aria-pressed", String(each === chosen)));
  };
  draw(listed);
  return {
    node: row,
    value: () => chosen,
    set: choose,
    options: (list) => {
      if (JSON.stringify(list) === JSON.stringify(listed)) return;
      listed = list;
      if (!list.some(([one]) => one === chosen)) chosen = null;
      draw(list);
    },
  };
}

/** Make a row of a form with its label. */
export function makeFormRow(label, ...inside) {
  return h("div", { class: "row" }, label ? h("span", { class: "label" }, label) : null, inside);
}

/** Make a line with a sign, because colour alone must not carry a meaning. */
export function makeSignLine(kind, sign, ...words) {
  return h("p", { class: kind }, h("span", { class: "sign", "aria-hidden": "true" }, sign), words);
}

/** Make a switch with its label: {node, value(), set(value)}. */
export function makeSwitch(label, { hint = "", onchange = () => {} } = {}) {
  const box = h("input", { type: "checkbox", onchange: () => onchange(box.checked) });
  return {
    node: h("label", { class: "toggle" }, box, h("span", null, label, hint ? h("small", null, hint) : null)),
    value: () => box.checked,
    set: (value) => {
      box.checked = Boolean(value);
    },
  };
}

/** Make the fields for a chief's decision that a referee enters:
 * {node, args() → {} | {verbal, by}, shown(whether)}. */
export function makeSpokenFields(at) {
  const name = h("input", {
    type: "text", value: storedValue("chief", ""), maxlength: 64, autocomplete: "off",
    "aria-label": say("rulings.chiefs-name"), placeholder: say("rulings.chiefs-name"),
    oninput: () => storeValue("chief", name.value.trim() || null),
  });
  const on = makeSwitch(say("rulings.by-word"), {
    hint: say("rulings.by-word-hint"),
    onchange: (value) => {
      name.hidden = !value;
      if (value && !name.value) name.focus();
    },
  });
  name.hidden = true;
  const node = h("div", { class: "by-word" }, on.node, name);
  return {
    node,
    ready: () => at.chief() || (on.value() && Boolean(name.value.trim())),
    args: () => (!at.chief() && on.value() && name.value.trim() ? { verbal: true, by: name.value.trim() } : {}),
    shown: (whether) => {
      node.hidden = !whether || at.chief();
    },
  };
}

/** Return the field for the chief's name, which a referee fills in; null for the chief. */
export function makeChiefField(at) {
  if (at.chief()) return null;
  return { name: "by", kind: "text", label: say("rulings.chiefs-name"), hint: say("rulings.by-word-hint"),
    required: true, value: storedValue("chief", ""), max: 64 };
}

/** Ask the table for the effect of a decision. Return the answer, or {refused: words}. */
export async function requestPreview(at, cmd, args) {
  try {
    const seen = await post(`/api/tables/${encodeURIComponent(at.table)}/foresee`, { cmd, args });
    return seen.refused ? { refused: textOf(seen.refused) } : seen;
  } catch (error) {
    return { refused: error.message };
  }
}

/** Show the effect of a decision: levels, deals, and the state of the match after it. */
export function showPreview(seen) {
  if (!seen) return h("p", { class: "outlook quiet" }, say("rulings.asking"));
  if (seen.refused) return h("p", { class: "outlook bad" }, h("span", { class: "sign" }, "✕"), seen.refused);
  return h("ul", { class: "outlook", "aria-label": say("rulings.outlook") }, previewTexts(seen).map((line) => h("li", null, line)));
}

/** Return the same effects as texts, for a question that confirms. */
export function previewTexts(seen) {
  if (!seen || seen.refused) return [];
  const { now, then } = seen;
  const lines = [];
  const moved = SIDES.filter((side) => now.levels[side] !== then.levels[side]);
  for (const side of moved) {
    lines.push(say("rulings.moves", { side: say(`side.${side}`), from: now.levels[side], to: then.levels[side] }));
  }
  if (!moved.length) lines.push(say("rulings.levels-stay", { ns: then.levels.NS, ew: then.levels.EW }));
  for (const side of SIDES) {
    if (now.points[side] !== then.points[side]) {
      lines.push(say("rulings.points-move", { side: say(`side.${side}`), from: now.points[side], to: then.points[side] }));
    }
    if (now.failures[side] !== then.failures[side]) {
      lines.push(say("rulings.failures-move", { side: say(`side.${side}`), from: now.failures[side], to: then.failures[side] }));
    }
  }
  if (seen.void.length) lines.push(say("rulings.void-deals", { deals: seen.void.join(say("rulings.and")) }));
  if (seen.stopped !== null && seen.stopped !== undefined) lines.push(say("rulings.deal-stops", { deal: seen.stopped }));
  if (then.deal !== now.deal || then.level !== now.level) {
    lines.push(say("rulings.level-then", { deal: then.deal, level: then.level }));
  }
  if (then.phase !== now.phase) lines.push(say("rulings.phase-then", { phase: textOf(then, "phase") }));
  if (textOf(then, "next") && textOf(then, "next") !== textOf(now, "next")) {
    lines.push(say("rulings.next-then", { next: textOf(then, "next") }));
  }
  if (then.verdict && !now.verdict) {
    const side = then.verdict.winner ? say(`side.${then.verdict.winner}`) : say("rulings.nobody");
    lines.push(say("rulings.match-ends", { side, how: textOf(then.verdict, "how") }));
  } else if (now.verdict && !then.verdict) lines.push(say("rulings.match-reopens"));
  return lines;
}

/** Return true if an answer changes the match: more than the loss of a turn. */
export function changesMatch(one) {
  const serious = ["foul", "match_forfeit", "disqualification"].includes(one.penalty);
  return serious || one.effects.length > (one.loses_turn ? 1 : 0);
}

/** Return a label without "…". A button with "…" opens a question; the button there has none. */
export const labelWithoutDots = (words) => words.replace("…", "");
