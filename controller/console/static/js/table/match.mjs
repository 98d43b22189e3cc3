// The match of a table: clocks, tribute and return, rulings, the result.

import { cardText } from "../cards.mjs";
import { byId, data, fill, h, keyed, shown, text } from "../dom.mjs";
import { durationText, now, secondsLeft } from "../time.mjs";
import { hasText, say, textOf } from "../words.mjs";

/** Make the panel with clocks, tribute duties, rulings and the result. */
export function makeMatchPanel(ctx) {
  const clocks = new Map();
  let rest = "";

  function draw() {
    const { state } = ctx;
    for (const part of ["clocks", "now"]) shown(byId(part), state);
    if (!state) return;
    tick();
    const { match } = state;
    const news = JSON.stringify([match.tribute, match.rulings, match.verdict, match.score, match.signed, match.signers]);
    if (news === rest) return;
    rest = news;
    tribute(match.tribute);
    rulings(match.rulings);
    result(match);
  }

  /** Continue the clocks from the last received state. */
  function tick() {
    const match = ctx.state?.match;
    if (!match) return;
    // The clocks of a silent table are not continued, because they may have stopped.
    if (document.body.dataset.stale || (ctx.at && ctx.at.standing !== "live" && clocks.size)) return;
    const since = now() - ctx.atMs;
    const running = match.clocks.map((one, at) => [`${one.duty}-${one.seat ?? one.side ?? "all"}-${at}`, one]);
    const all = new Map(running);
    if (match.clock) all.set("match", match.clock);
    keyed(byId("clock-list"), clocks, [...(match.clock ? ["match"] : []), ...running.map(([key]) => key)], () =>
      h("li", null, h("span"), h("strong"), h("small")));
    for (const [key, node] of clocks) {
      const clock = all.get(key);
      const [name, time, more] = node.children;
      const seconds = secondsLeft(clock, since);
      text(name, key === "match" ? say("table.clock.match") : [who(clock), duty(clock.duty)].join(" · "));
      text(time, durationText(seconds * 1000));
      data(node, "low", seconds <= (key === "match" ? 300 : 5) ? "yes" : null);
      const marks = [!clock.running && say("table.clock.stands"), seconds <= 0 && (key === "match" ? say("table.clock.over") : say("table.clock.said"))];
      if (key === "match") {
        if (match.added_time_s) marks.push(say("table.clock.added", { time: durationText(match.added_time_s * 1000) }));
        if (match.announced === "last_deal") marks.push(say("table.clock.last_deal"));
      }
      text(more, marks.filter(Boolean).join(" "));
    }
    shown(byId("clocks"), all.size);
  }

  return { draw, tick };
}

function who(clock) {
  if (clock.seat) return say(`seat.${clock.seat}`);
  return clock.side ? say(`side.${clock.side}`) : say("table.duty.all");
}

function duty(name) {
  return hasText(`table.duty.${name}`) ? say(`table.duty.${name}`) : name;
}

function tribute(found) {
  shown(byId("tribute"), found);
  if (!found) return;
  const lines = [];
  const add = (kind, ...words) => lines.push(h("li", { class: kind }, ...words));
  if (found.anti === null) add("wait", say("table.tribute.checked"));
  if (found.anti) add("good", say("table.tribute.anti"));
  else {
    for (const seat of found.payers) {
      const paid = found.payments.find((one) => one.giver === seat);
      const line = paid
        ? say("table.tribute.to", { giver: say(`seat.${seat}`), to: say(`seat.${paid.to}`) })
        : say("table.tribute.pays", { seat: say(`seat.${seat}`) });
      const due = found.required[seat] ? `${say("table.tribute.required", { card: cardText(found.required[seat]) })} · ` : "";
      add(found.laid.includes(seat) ? "good" : "wait", line, " · ", due, found.laid.includes(seat) ? say("table.tribute.laid") : say("table.tribute.waits"));
    }
    if (found.equal) add("", say("table.tribute.equal"));
    if (found.choice_open) add("wait", say("table.tribute.choice"));
    for (const one of found.returns) {
      const given = found.given.includes(one.giver);
      add(given ? "good" : "wait",
        say("table.tribute.returns", { giver: say(`seat.${one.giver}`), to: say(`seat.${one.to}`) }), " · ",
        one.card ? cardText(one.card) : say(`table.rule.${one.rule}`), " · ",
        given ? say("table.tribute.given") : say("table.tribute.not-given"));
    }
    if (found.returns.length && found.returns_shown !== "open") add("quiet", say(`table.tribute.${found.returns_shown}`));
  }
  fill(byId("tribute-list"), lines);
}

function rulings(list) {
  shown(byId("ruled"), list.length);
  fill(byId("ruled-list"), [...list].reverse().map((one) => h("li", { data: { state: one.state } },
    h("b", null, one.id), " ", one.seat ? say(`seat.${one.seat}`) : say(`side.${one.side}`), " · ",
    textOf(one, "offence"), " · ", textOf(one, "penalty"), one.article ? ` (${one.article})` : "", " · ",
    h("strong", null, one.state === "proposed" && one.needs === "chief" ? say("table.ruling.chief") : say(`table.ruling.${one.state}`)),
    one.verbal && !one.confirmed_by ? ` · ${say("table.ruling.verbal")}` : "")));
}

function result(match) {
  shown(byId("result"), match.verdict);
  if (!match.verdict) return;
  const { verdict, score } = match;
  fill(byId("result-list"), [
    verdict.winner ? say("table.result.winner", { side: say(`side.${verdict.winner}`) }) : say("table.result.draw"),
    textOf(verdict, "how"),
    score?.match_points && say("table.result.score", score.match_points),
    score?.level_points && say("table.result.levels", score.level_points),
    say("table.result.signed", { n: match.signed.length, m: match.signers.length }),
  ].filter(Boolean).map((one) => h("li", null, one)));
}
