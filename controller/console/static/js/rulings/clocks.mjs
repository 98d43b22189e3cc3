// The clock on call (读秒), and the time that the table lost (补时). A clock only suggests a charge.

import { get } from "../api.mjs";
import { askValues } from "../dialog.mjs";
import { data, fill, h, keyed, shown, text } from "../dom.mjs";
import { makeCommandButton } from "../command-button.mjs";
import { SEATS } from "../seats.mjs";
import { durationText, now, spokenDuration } from "../time.mjs";
import { pairText, say, textOf } from "../words.mjs";
import { labelWithoutDots, seatText } from "./parts.mjs";

/** Make the panel: {node, draw(), opened()}. */
export function makeClockPanel(at) {
  const about = { deal: () => at.state?.match.deal, attempt: () => at.state?.match.attempt };
  const rows = Object.fromEntries(SEATS.map((seat) => [seat, seatRow(at, seat, about)]));
  const off = h("p", { class: "quiet" });
  const others = h("ul", { class: "clocks" });
  const suggested = h("div", { class: "stack" });
  const lines = new Map();
  const area = h("p");
  const lost = h("div", { class: "stack" });
  let time = null;
  let heard = 0;
  let of = "";
  let since = "";

  const give = makeCommandButton({
    table: at.table, cmd: "add_time", label: say("rulings.give-proposed"), kind: "go", ...about,
    args: () => ({ seconds: time?.seconds ?? 0 }),
    after: () => {
      time = null; // the time is added: ask the table before the next suggestion
      shown(give.node, false);
      return look();
    },
  });
  const other = makeCommandButton({
    table: at.table, cmd: "add_time", label: say("rulings.give-other"), ...about, after: look,
    args: () => askValues({ title: labelWithoutDots(say("rulings.give-other")), text: say("rulings.give-text"), fields: [
      { name: "seconds", kind: "span", label: say("rulings.length"), min: 0, max: 36000, required: true, value: time?.seconds },
    ] }),
  });
  const none = makeCommandButton({
    table: at.table, cmd: "add_time", label: say("rulings.give-none"), ...about, args: { seconds: 0 }, after: look,
  });
  const buttons = h("div", { class: "acts" }, give.node, other.node, none.node);
  const node = h("div", { class: "two" },
    h("section", { class: "panel stack", "aria-labelledby": "clock-title" },
      h("h2", { id: "clock-title" }, say("rulings.clock-on-call")), h("p", { class: "quiet" }, say("rulings.clock-text")), off,
      h("div", { class: "seats" }, SEATS.map((seat) => rows[seat].node)), suggested, others),
    h("section", { class: "panel stack", "aria-labelledby": "time-title" },
      h("h2", { id: "time-title" }, say("rulings.added-time")), area, lost, buttons));

  async function look() {
    try {
      time = await get(`/api/tables/${encodeURIComponent(at.table)}/lost_time`);
      if (time.refused) time = { refused: textOf(time.refused) };
    } catch (error) {
      time = { refused: error.message };
    }
    drawTime();
  }

  function drawTime() {
    if (!time) return;
    if (time.refused) {
      fill(lost, h("p", { class: "quiet" }, time.refused));
      shown(give.node, false);
      return;
    }
    shown(give.node, time.seconds > 0);
    fill(lost, time.seconds
      ? [h("p", null, h("b", null, say("rulings.time-proposed", { time: durationText(time.seconds * 1000) })),
        time.needs === "chief" ? h("span", { class: "wait" }, " ⚑ ", say("rulings.much-time")) : null),
      h("ul", null, time.stops.map((one) => h("li", null, pairText(one.words), say("rulings.colon"), durationText(one.seconds * 1000), one.lasts ? say("rulings.stop-lasts") : "")))]
      : h("p", { class: "quiet" }, say("rulings.no-time-lost")));
  }

  setInterval(() => {
    for (const seat of SEATS) rows[seat].tick(heard);
  }, 250);

  return {
    node,
    opened: () => {
      since = "";
    },
    draw: () => {
      const match = at.state?.match;
      if (!match) return;
      const stops = JSON.stringify([match.match, match.suspended, match.claimed, match.added_time_s, match.misdeals, Boolean(at.me)]);
      if (stops !== since && !node.closest("[hidden]") && match.match && at.may()) {
        since = stops;
        look();
      }
      const wanted = JSON.stringify([match.clocks, match.at_ms]);
      if (wanted !== of) {
        of = wanted;
        heard = now();
      }
      text(off, at.book && !at.book.play_s ? say("rulings.no-play-clock") : "");
      for (const seat of SEATS) rows[seat].draw(match.clocks.find((one) => one.duty === "play" && one.seat === seat));
      const rest = match.clocks.filter((one) => one.duty !== "play");
      fill(others, rest.map((one) => h("li", null, say(`rulings.duty.${one.duty}`), " ",
        one.seat ? seatText(at, one.seat) : one.side ? say(`side.${one.side}`) : "", " ", durationText(one.left_s * 1000),
        one.running ? "" : say("rulings.stands"))));
      const proposed = new Map(at.desk.suggestions.map((one) => [JSON.stringify([one, one.seat && seatText(at, one.seat)]), one]));
      keyed(suggested, lines, [...proposed.keys()], (key) => suggestion(at, proposed.get(key)));
      const clock = match.clock;
      text(area, clock ? say(clock.running ? "rulings.match-clock" : "rulings.match-clock-stands",
        { left: spokenDuration(clock.left_s * 1000), added: durationText(match.added_time_s * 1000) }) : say("rulings.no-match-clock"));
      for (const button of [give, other, none]) button.offer(at.offer("add_time"));
    },
  };
}

/** Make the line of a clock's suggestion, with the button that fills in a charge. */
function suggestion(at, one) {
  return h("p", { class: "wait" }, h("span", { class: "sign" }, "◔"),
    one.seat ? [seatText(at, one.seat), say("rulings.colon")] : "", textOf(one, "words"), " ",
    h("button", { type: "button", class: "plain small", onclick: () => at.accuse({ ...one, pointer: "clock" }) }, say("rulings.to-charge")));
}

function seatRow(at, seat, about) {
  const name = h("b");
  const left = h("span", { class: "left", role: "timer" });
  const call = makeCommandButton({ table: at.table, cmd: "call_clock", label: say("rulings.call-clock"), ...about, args: { seat } });
  const warn = makeCommandButton({ table: at.table, cmd: "warn", label: say("rulings.warned"), kind: "go", ...about, args: { seat } });
  const done = makeCommandButton({ table: at.table, cmd: "confirm", label: say("rulings.has-played"), ...about, args: { seat } });
  const node = h("div", { class: "seat-clock" }, name, left, h("div", { class: "acts" }, call.node, warn.node, done.node));
  let clock = null;
  const refused = (offer) => (offer && offer.seats && !offer.seats.includes(seat)
    ? { refused: offer.refused ?? { message: "not for this seat", message_zh: say("rulings.not-this-seat"), action: "", action_zh: "" } } : offer);
  return {
    node,
    tick: (heard) => {
      if (!clock) return;
      const seconds = clock.running ? clock.left_s - (now() - heard) / 1000 : clock.left_s;
      text(left, seconds > 0 ? durationText(seconds * 1000 + 999) : say("rulings.time-over"));
      left.dataset.over = seconds > 0 ? "" : "yes";
    },
    draw: (told) => {
      clock = told ?? null;
      data(node, "counted", clock ? "yes" : null);
      text(name, seatText(at, seat));
      if (!clock) text(left, "");
      shown(call.node, !clock);
      shown(warn.node, Boolean(clock));
      shown(done.node, Boolean(clock));
      call.offer(refused(at.offer("call_clock")));
      warn.offer(refused(at.offer("warn")));
      done.offer(refused(at.offer("confirm")));
    },
  };
}
