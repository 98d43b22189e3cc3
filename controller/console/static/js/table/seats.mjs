// The table from above: four seats at their places, each with the state of its player.

import { byId, data, fill, h, shown, text } from "../dom.mjs";
import { SEATS, sideOf } from "../seats.mjs";
import { durationText } from "../time.mjs";
import { say, textOf } from "../words.mjs";

/** Make the round of seats. A touch on a seat opens its commands. */
export function makeSeatRound(ctx) {
  const level = h("p", { class: "level" });
  const phase = h("p", { class: "phase" });
  const nodes = new Map(SEATS.map((seat) => {
    const name = h("span", { class: "name" });
    const marks = h("span", { class: "marks" });
    const node = h("button", { type: "button", class: "seat", data: { seat }, onclick: () => ctx.atSeat?.(seat) },
      h("span", { class: "wind" }, say(`seat.${seat}`)), name, marks);
    return [seat, { node, name, marks }];
  }));
  fill(byId("round"), [...nodes.values()].map((one) => one.node), h("div", { class: "middle" }, level, phase));

  function draw() {
    const { state } = ctx;
    shown(byId("seats"), state);
    if (!state) return;
    const { match } = state;
    text(level, match.level && match.deal ? say("table.plays", { level: match.level }) : "");
    text(phase, match.suspended === null ? textOf(match, "phase") : `${say("table.suspended")} · ${textOf(match, "phase")}`);
    for (const seat of SEATS) {
      const one = nodes.get(seat);
      const player = (match.pairs?.[sideOf(seat)]?.players ?? {})[seat];
      text(one.name, player ?? say("table.at.nobody"));
      const said = playerState(state, seat, ctx.ago);
      fill(one.marks, said.map(([kind, words]) => h("span", { class: `mark ${kind}` }, words)));
      data(one.node, "waited", match.waiting_for.includes(seat) ? "yes" : null);
      data(one.node, "called", state.calls.some((call) => call.seat === seat) ? "yes" : null);
      one.node.setAttribute("aria-label", [say("table.at.open", { seat: say(`seat.${seat}`), name: player ?? "" }), ...said.map(([, words]) => words)].join(", "));
    }
  }

  function tick() {
    if (ctx.state?.calls.length) draw();
  }

  return { draw, tick };
}

/** Return the state of a player, the most urgent first: [kind, words]. */
function playerState(state, seat, ago) {
  const { match } = state;
  const found = [];
  for (const call of state.calls.filter((one) => one.seat === seat && one.reason === "button")) {
    found.push(["bad", `⚑ ${say("table.at.called", { time: durationText(ago(call.since)) })}`]);
  }
  if (match.claimed === seat) found.push(["bad", `! ${say("table.at.claimed")}`]);
  if (match.waiting_for.includes(seat)) found.push(["wait", `… ${say("table.at.waited")}`]);
  const place = match.order.indexOf(seat) + 1;
  if (place) found.push(["good", `✓ ${say("table.at.out", { place: say(`table.place.${place}`) })}`]);
  if (match.outs.includes(seat)) found.push(["wait", `? ${say("table.at.says-out")}`]);
  if (match.dead.includes(seat)) found.push(["bad", `✕ ${say("table.at.dead")}`]);
  if (match.leader === seat && !match.led && !match.verdict) found.push(["go", `▶ ${say("table.at.leads")}`]);
  if (match.phase === "cut" && (match.cutters.includes(seat) || state.machine.cutters.includes(seat))) found.push(["go", say("table.at.cut")]);
  if (match.left?.[seat] !== undefined) found.push(["", say("table.at.left", { n: match.left[seat] })]);
  if (match.phase === "setup") found.push(match.seated.includes(seat) ? ["good", `✓ ${say("table.at.seated")}`] : ["", say("table.at.absent")]);
  if (["count_check", "anti_check"].includes(match.phase) && match.counted.includes(seat)) found.push(["good", `✓ ${say("table.at.counted")}`]);
  const owed = match.tribute;
  if (owed && ["anti_check", "tribute", "return"].includes(match.phase)) {
    if (owed.payers.includes(seat)) found.push(owed.laid.includes(seat) ? ["good", `✓ ${say("table.at.laid")}`] : ["", say("table.at.pays")]);
    if (owed.given.includes(seat)) found.push(["good", `✓ ${say("table.at.returned")}`]);
  }
  return found;
}
