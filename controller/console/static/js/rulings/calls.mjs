// Calls for a referee at this table: the seat, the time, the reason, and who goes there.

import { post } from "../api.mjs";
import { isConnected, onConnectionChange } from "../connected.mjs";
import { byId, fill, h, keyed, shown, text } from "../dom.mjs";
import { durationText, now } from "../time.mjs";
import { say, textOf } from "../words.mjs";
import { seatText } from "./parts.mjs";

/** Make the strip above all panels: {draw(), tick()}. It reads `at.wait` and `at.skew_ms`. */
export function makeCallStrip(at) {
  const rows = new Map();
  const list = h("ul");
  const who = h("span");
  const go = h("button", { type: "button", class: "plain small", onclick: take });
  const rest = () => {
    go.disabled = !isConnected();
  };
  fill(byId("calls"), list, h("p", { class: "who" }, who, " ", go));
  onConnectionChange(rest);

  const mine = () => Boolean(at.me && at.wait?.taken_by === at.me.name);

  async function take() {
    const table = `/api/tables/${encodeURIComponent(at.table)}`;
    try {
      await (mine() ? post(`${table}/leave`) : post(`${table}/take`, { over: at.wait?.taken_by ?? null }));
    } catch (error) {
      at.tell(error.message, "bad");
    }
  }

  function said(call) {
    const time = durationText(now() - Date.parse(call.since) - at.skew_ms);
    const words = textOf(call, "words") || call.reason;
    return call.seat ? say("rulings.call-of", { who: seatText(at, call.seat), words, time }) : say("rulings.call", { words, time });
  }

  function draw() {
    const open = new Map((at.state?.calls ?? []).map((call) => [`${call.reason} ${call.seat ?? ""}`, call]));
    shown(byId("calls"), open.size > 0);
    keyed(list, rows, [...open.keys()], () => h("li"));
    for (const [key, node] of rows) text(node, `⚑ ${said(open.get(key))}`);
    const taken = at.wait?.taken_by;
    text(who, taken ? say("rulings.call-taken", { who: taken }) : say("rulings.call-free"));
    text(go, say(mine() ? "rulings.give-back" : taken ? "rulings.go-instead" : "rulings.i-go"));
    shown(go, at.may() && at.wait);
  }

  return { draw, tick: draw, rest };
}
