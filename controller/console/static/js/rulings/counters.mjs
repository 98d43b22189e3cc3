// The number of warnings, penalties and wrong claims of each pair. No ruling follows automatically.

import { fill, h, shown } from "../dom.mjs";
import { say, textOf } from "../words.mjs";
import { showArticle } from "./parts.mjs";

const PENALTIES = ["warning", "violation", "foul", "match_forfeit"];

/** Make the counters of both pairs and the penalty ladder: {node, draw(), learned()}. */
export function makeCounterPanel(at) {
  const head = h("tr");
  const body = h("tbody");
  const table = h("table", { class: "counters" }, h("thead", null, head), body);
  const whole = h("p", { class: "wait", hidden: true }, say("rulings.not-whole"));
  const legend = h("p", { class: "quiet" }, say("rulings.counters-legend"));
  const brought = h("div");
  const rungs = h("ul", { class: "rungs" });
  const fouls = h("ul", { class: "effects" });
  const all = h("div", { class: "ladder" });
  const node = h("section", { class: "panel", "aria-labelledby": "counters-title" },
    h("h2", { id: "counters-title" }, say("rulings.counters")),
    h("div", { class: "wide" }, table), legend, whole, brought,
    h("details", null, h("summary", null, say("rulings.ladder")),
      h("h3", null, say("rulings.rungs")), rungs, h("h3", null, say("rulings.foul-means")), fouls,
      h("h3", null, say("rulings.offences")), all));
  let drawn = "";

  return {
    node,
    learned: () => {
      const ladder = at.book?.ladder;
      shown(node, Boolean(ladder));
      if (!ladder) return;
      fill(rungs, ladder.rungs.map((one) => h("li", null,
        say("rulings.rung", { times: one.times, below: textOf(one, "below"), above: textOf(one, "above"), scope: say(`rulings.rung.${one.id}`) }),
        " ", showArticle(one.article))));
      fill(fouls, ladder.fouls.filter((one, n, list) => list.findIndex((other) => textOf(other) === textOf(one)) === n)
        .map((one) => h("li", null, textOf(one), " ", showArticle(one.article))));
      fill(all, ladder.groups.map((group) => h("section", null, h("h4", null, textOf(group)),
        h("dl", null, group.offences.map((one) => [h("dt", null, textOf(one), " ", showArticle(one.article)), h("dd", null, penaltySteps(one))])))));
    },
    draw: () => {
      const wanted = JSON.stringify([at.desk.counters, at.desk.whole]);
      if (wanted === drawn) return;
      drawn = wanted;
      shown(whole, at.desk.counters.length > 0 && !at.desk.whole);
      const pairs = at.desk.counters;
      fill(head, h("td"), pairs.map((pair) => h("th", { scope: "col" }, say(`side.${pair.side}`), h("small", null, `${pair.pair} ${pair.name}`))));
      fill(body,
        PENALTIES.map((name) => line(say(`rulings.count.${name}`), pairs.map((pair) => cell(pair.given[name])))),
        line(say("rulings.count.signals"), pairs.map((pair) => plain(pair.signals, say("rulings.in-event")))),
        line(say("rulings.count.claims"), pairs.map((pair) => plain(pair.claims, say("rulings.in-match")))),
        pairs.some((pair) => people(pair)) ? line(say("rulings.persons"), pairs.map((pair) => h("td", null, people(pair)))) : null);
      // An empty list is no proof, because this console may not have received the earlier matches.
      const none = at.desk.counters.length > 0 && at.desk.whole && at.desk.counters.every((pair) => !pair.brought?.length);
      fill(brought, none ? h("p", { class: "quiet" }, say("rulings.none-brought"), earlier(at)) : at.desk.counters.filter((pair) => pair.brought?.length).map((pair) => [
        h("h3", null, say("rulings.brought", { pair: `${pair.pair} ${pair.name}` })),
        h("ul", null, pair.brought.map((one) => h("li", null, say("rulings.brought-line", {
          round: one.round, match: one.match, deal: one.deal, person: one.person ?? "",
          offence: textOf(one, "offence"), penalty: textOf(one, "penalty"),
        }), " ", showArticle(one.article)))),
      ]));
    },
  };
}

/** Make links to the score sheets of the pairs' other matches in this event. */
function earlier(at) {
  const event = at.state?.match.event ?? "";
  return at.desk.counters.map((pair) => [" ", h("a", {
    href: `/history?${new URLSearchParams({ event, find: pair.name })}`,
  }, say("rulings.earlier-sheets", { pair: `${pair.pair} ${pair.name}` }))]);
}

function line(words, cells) {
  return h("tr", null, h("th", { scope: "row" }, words), cells);
}

function plain(count, where) {
  return h("td", { class: count ? "some" : "" }, String(count), h("small", null, ` ${where}`));
}

function people(pair) {
  const said = Object.entries(pair.persons).map(([name, given]) =>
    `${name}: ${Object.entries(given).map(([penalty, times]) => `${say(`rulings.count.${penalty}`)} ${times}`).join(say("rulings.and"))}`);
  return said.length ? h("small", { class: "persons" }, said.join("; ")) : null;
}

/** Make a cell: the count in the deal, the match and the round. An unknown round is "?". */
function cell(count) {
  const all = [[count.deal, say("rulings.in-deal")], [count.match, say("rulings.in-match")], [count.round ?? "?", say("rulings.in-round")]];
  return h("td", null, all.map(([number, words]) => h("span", { class: `of ${number ? "some" : ""}` }, h("small", null, words), String(number))));
}

/** List the steps of an offence, one line each: ①口头警告 ②记违例，停一圈 … */
export function penaltySteps(one) {
  const scope = textOf(one, "scope");
  return h("ol", { class: "steps" }, one.steps.map((step, n) => h("li", null,
    one.steps.length > 1 ? h("b", { "aria-hidden": "true" }, "①②③④⑤⑥"[n] ?? String(n + 1)) : null,
    step.map((answer, place) => [place ? " / " : "", h(place ? "span" : "b", null, textOf(answer)),
      textOf(answer, "also") ? h("small", null, ` (${textOf(answer, "also")})`) : null,
      answer.chief ? h("small", { class: "chiefs" }, " ⚑") : null]))),
  scope ? h("li", { class: "quiet" }, say("rulings.scope", { scope })) : null,
  h("li", { class: "quiet" }, textOf(one, "remedy")));
}
