// One side of the screen: a seat's name, its marks and its buttons, turned towards the player.

import { attr, data, h, keyed, shown, text } from "../dom.mjs";
import { language, say } from "../words.mjs";
import { sendPress } from "./press.mjs";

const HOLD_MS = 1000;
const CALL_MS = 300; // The same time as for the red button of a table.
const MEANT_MS = 700; // A touch this soon after a button changed was meant for the old button.
const TOLD_MS = 6000;
const PLACES = ["UP", "2ND", "3RD", "LAST"];

export class SeatSide {
  constructor(seat, side, { table, middle }) {
    this.seat = seat;
    this.table = table;
    this.middle = middle;
    this.buttons = new Map();
    this.live = false;
    this.busy = false;
    this.letter = h("b", null, language === "zh" ? say(`seat.${seat}`) : seat);
    this.name = h("span", { class: "name" });
    this.marks = h("span", { class: "marks" });
    this.told = h("p", { class: "told", role: "alert", hidden: true });
    this.row = h("div", { class: "row" });
    const towards = h(
      "button",
      { class: "who", onclick: () => middle.turn(side), "aria-label": say("display.turn", { seat: say(`seat.${seat}`) }) },
      this.letter,
      h("span", null, this.name, this.marks),
    );
    this.node = h(
      "section",
      { class: "seat", data: { side, seat }, "aria-label": say("display.seat", { seat: say(`seat.${seat}`) }) },
      towards,
      this.row,
      this.told,
    );
  }

  /** `plays`: true on the players' screen. On other screens the players' buttons are left out. */
  draw(at, view, live, plays) {
    this.live = live;
    text(this.name, at.name);
    text(this.marks, marks(at, view).join(" · "));
    data(this.node, "waits", at.waits || at.cuts);
    data(this.node, "leads", at.leads);
    const offered = plays ? at.buttons.slice() : [];
    if (plays && at.cuts) offered.unshift(this.middle.cut(at, view));
    const wanted = new Map(offered.map((one) => [one.say + (one.of ?? ""), one]));
    keyed(this.row, this.buttons, Array.from(wanted.keys()), () => this.made());
    for (const [key, one] of wanted) this.dress(this.buttons.get(key), one);
    data(this.node, "called", at.called);
  }

  made() {
    const node = h("button", { data: { sinceMs: performance.now() } }, h("i"), h("span"));
    let timer = null;
    const begin = () => {
      const { order } = node;
      if (timer || !this.may(node)) return; // a second touch has no effect
      const ms = order.hold ? HOLD_MS : order.cmd === "call" ? CALL_MS : 0;
      if (!ms) {
        this.send(node, order);
        return;
      }
      data(node, "holding", "yes");
      timer = setTimeout(() => {
        timer = null;
        data(node, "holding", null);
        if (this.live) this.send(node, order);
      }, ms);
    };
    const end = (event) => {
      clearTimeout(timer);
      timer = null;
      // The touch was too short: nothing was sent, so a hint is shown.
      if (node.dataset.holding && event.type.endsWith("up")) this.tell(say("display.hold", { what: node.innerText }), "hint");
      data(node, "holding", null);
    };
    // The cut uses the number that was shown when the touch began.
    node.addEventListener("pointerdown", begin);
    for (const over of ["pointerup", "pointerleave", "pointercancel", "keyup", "blur"]) {
      node.addEventListener(over, end);
    }
    node.addEventListener("keydown", (event) => {
      if (!event.repeat && (event.key === "Enter" || event.key === " ")) begin();
    });
    node.addEventListener("contextmenu", (event) => event.preventDefault());
    return node;
  }

  dress(node, order) {
    const words = say(`display.do.${order.say}`, {
      seat: order.of ? say(`seat.${order.of}`) : "",
      n: order.args.n ?? "",
    });
    const before = node.order;
    const changed = !before || before.deal !== order.deal || before.attempt !== order.attempt;
    if (changed || before.cmd !== order.cmd) node.dataset.sinceMs = performance.now();
    node.order = order;
    text(node.lastElementChild, words);
    data(node, "cmd", order.cmd);
    data(node, "hold", order.hold);
    attr(node, "aria-description", order.hold ? say("display.hold", { what: words }) : null);
    node.disabled = !this.live || this.busy || order.args.n === null;
  }

  may(node) {
    return !node.disabled && performance.now() - Number(node.dataset.sinceMs) >= MEANT_MS;
  }

  async send(node, order) {
    if (this.busy) return;
    this.busy = true;
    for (const one of this.buttons.values()) one.disabled = true;
    this.tell("");
    data(node, "sent", "yes");
    const why = await sendPress(this.table, order);
    data(node, "sent", null);
    this.busy = false;
    for (const one of this.buttons.values()) one.disabled = !this.live;
    if (why) this.tell(why);
    else if (order.cmd === "cut") this.middle.chosen("");
  }

  tell(words, kind = "bad") {
    clearTimeout(this.timer);
    data(this.told, "kind", kind);
    shown(this.told, words);
    text(this.told, words);
    if (words) this.timer = setTimeout(() => this.tell(""), TOLD_MS);
  }
}

function marks(at, view) {
  const found = [];
  if (at.called) found.push(say("display.called"));
  if (at.place && view.phase !== "setup") found.push(say(`display.place.${PLACES[at.place - 1]}`));
  if (at.dead) found.push(say("display.dead"));
  if (at.leads) found.push(say("display.leads"));
  if (view.phase === "setup") found.push(at.seated ? say("display.seated") : say("display.absent"));
  return found;
}
