// One row of the hall's list: the reason of a wait, its duration, and who goes there.

import { isConnected, onConnectionChange } from "../connected.mjs";
import { clockStopText } from "../area-stop.mjs";
import { attr, data, fill, h, shown, text } from "../dom.mjs";
import { makeCommandButton } from "../command-button.mjs";
import { freshnessText, isCurrent, phaseText, reasonText, remainingText, rowFacts, tableLabel, waitReasonText } from "../rows.mjs";
import { lightSign, rankSign, UNHEARD } from "../signs.mjs";
import { durationText, now, spokenDuration } from "../time.mjs";
import { say } from "../words.mjs";

const GOERS = ["referee", "chief", "technician"];

export class HallRow {
  /** `take(table, wait)` and `leave(table)` are called on a press, `entered(table)` on focus. */
  constructor(table, { take, leave, entered }) {
    this.table = table;
    this.take = take;
    this.leave = leave;
    this.row = this.wait = null;
    this.mine = false;
    const small = (name) => h("small", { class: name });
    const span_ = (name) => h("span", { class: name });
    this.sign = h("span", { class: "sign", "aria-hidden": "true" });
    this.no = h("b", { class: "no" });
    this.id = small("id");
    this.link = h("a", { class: "open", href: `/table/${encodeURIComponent(table)}`, tabindex: -1 }, this.no, this.id);
    this.rank = span_("rank");
    this.why = h("b", { class: "why" });
    this.also = small("also");
    this.chiefs = h("b", { class: "chiefs", hidden: true }, say("row.chiefs"));
    this.since = span_("since");
    this.facts = span_("facts");
    this.left = span_("left");
    this.who = span_("who");
    this.there = h("span");
    this.go = h("button", { type: "button", onclick: () => this.press() });
    this.link.addEventListener("focus", () => {
      entered(table);
      if (this.row) this.name();
    });
    this.asked = false;
    this.rest = () => {
      this.go.disabled = this.asked || !isConnected();
    };
    onConnectionChange(this.rest);
    this.node = h("li", { data: { table } },
      this.sign, this.link,
      h("p", { class: "what" }, this.rank, this.why, this.also, this.chiefs),
      this.since,
      h("p", { class: "about" }, this.facts, this.left),
      h("div", { class: "going" }, this.who, this.there, this.go));
  }

  /** Go to the table, or give it back. */
  press() {
    if (this.go.hidden || this.go.disabled) return;
    this.asked = true;
    this.rest();
    const over = () => {
      this.asked = false;
      this.rest();
    };
    (this.mine ? this.leave(this.table) : this.take(this.table, this.wait)).then(over, over);
  }

  draw(row, wait, me) {
    const reason = wait?.reasons[0];
    [this.row, this.wait] = [row, wait];
    this.mine = Boolean(wait?.taken_by) && wait.taken_by === me?.name;
    data(this.node, "light", row.light);
    data(this.node, "rank", reason?.rank ?? null);
    data(this.node, "taken", wait?.taken_by ? (this.mine ? "me" : "other") : null);
    data(this.node, "chiefs", wait?.chiefs ? "yes" : null);
    text(this.sign, reason ? rankSign(reason.rank) : lightSign(row.light));
    text(this.no, tableLabel(row));
    text(this.id, tableLabel(row) === row.table ? row.area : `${row.table} · ${row.area}`);
    this.drawWhy(row, wait, reason);
    this.drawFacts(row, reason);
    text(this.who, wait?.taken_by ? say("row.going", { person: wait.taken_by }) : "");
    this.drawButton(wait, me);
    this.drawThere(wait);
    this.tick();
    this.name();
  }

  drawWhy(row, wait, reason) {
    text(this.rank, reason && reason.rank !== UNHEARD ? say(`rank.${reason.rank}`) : "");
    text(this.why, reason ? waitReasonText(row, reason) : isCurrent(row) ? phaseText(row) : freshnessText(row));
    const more = wait?.reasons.slice(1).map((one) => waitReasonText(row, one)) ?? [];
    text(this.also, more.length ? say("row.also", { words: more.join(say("row.and")) }) : "");
    shown(this.chiefs, wait?.chiefs);
  }

  /** Draw the facts of a row. If the state is old, a text for that (`late`) comes first. */
  drawFacts(row, reason) {
    const late = reason && reason.rank !== UNHEARD && !isCurrent(row) ? freshnessText(row) : "";
    const found = row.machine === "" ? [say("row.not-heard")] : [...rowFacts(row), reason ? phaseText(row) : ""];
    const said = [late, ...found].filter(Boolean);
    const stop = clockStopText(row);
    if (this.said === said.join("\n")) return;
    this.said = said.join("\n");
    fill(this.facts, said.map((fact) => h("span", { class: fact === late ? "late" : fact === stop ? "stop" : null }, fact)));
  }

  drawButton(wait, me) {
    const may = Boolean(wait) && GOERS.includes(me?.role);
    shown(this.go, may);
    if (!may) return;
    const table = tableLabel(this.row);
    const [words, label] = this.mine
      ? [say("take.leave"), say("take.leave-of", { table })]
      : wait.taken_by
        ? [say("take.instead"), say("take.of-instead", { table })]
        : [say("take.take"), say("take.of", { table })];
    text(this.go, words);
    attr(this.go, "aria-label", label);
    attr(this.go, "class", wait.taken_by ? "plain small" : "go");
  }

  /** Draw the button "I am here" for the person who went to a call. It ends the table's calls. */
  drawThere(wait) {
    const called = this.mine ? wait.reasons.find((reason) => reason.name === "button") : null;
    const key = called ? `${called.seat} ${called.since_ms}` : null;
    if ((this.there.dataset.call ?? null) === key) return;
    data(this.there, "call", key);
    fill(this.there, called
      ? makeCommandButton({ table: this.table, cmd: "attend", label: say("take.there"), kind: "go" }).node
      : []);
  }

  /** Set the row's accessible name. It is set again on focus, because it has the duration. */
  name() {
    const [table, reason] = [tableLabel(this.row), this.wait?.reasons[0]];
    const waits = () => say("row.waits-for", {
      table, rank: say(`rank.${reason.rank}`), words: waitReasonText(this.row, reason), time: spokenDuration(now() - reason.since_ms),
    });
    attr(this.link, "aria-label", reason
      ? [waits(), this.also.textContent, this.who.textContent].filter(Boolean).join(say("row.and"))
      : `${say("row.open", { table })}: ${this.why.textContent}`);
  }

  tick() {
    const reason = this.wait?.reasons[0];
    text(this.since, reason ? durationText(now() - reason.since_ms) : "");
    text(this.left, isCurrent(this.row) ? remainingText(this.row) : "");
  }
}
