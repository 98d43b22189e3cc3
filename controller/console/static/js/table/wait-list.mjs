// Reasons to wait for a person at this table, each with its next action.

import { isConnected, onConnectionChange } from "../connected.mjs";
import { byId, data, fill, h, keyed, shown, text } from "../dom.mjs";
import { durationText } from "../time.mjs";
import { say, textOf } from "../words.mjs";
import { makeCommandButton } from "../command-button.mjs";

/** The answers to an alert or call: commands of this page, or another page. */
const ANSWERS = {
  JAM: ["clear_jam"],
  CUT_LATE: ["cut", "start_deal"],
  count: [],
  second_count: [],
  extra_deal: [],
  HANDS_WAIT: ["release"],
  OUT_UNCONFIRMED: ["confirm"],
  RESULT_UNCONFIRMED: ["confirm"],
  SET_BARRED: ["replace_set", "clear_set"],
  COUNT_WRONG: ["replace_set"],
  SET_TOO_EARLY: ["acknowledge"],
  no_deal: ["start_deal"],
  ruling: [],
  ruling_chiefs: [],
  button: ["attend"],
  wrong_player: ["set_match", "acknowledge"],
  name_leader: ["name_leader"],
  added_time: ["add_time"],
  hands_unknown: ["acknowledge"],
  play_warning: ["warn", "acknowledge"],
  tribute_warning: ["warn", "acknowledge"],
  return_warning: ["warn", "acknowledge"],
};
/** Reasons from the console: a due deal that does not begin, and proposed rulings. */
const SEEN = new Set(["no_deal", "ruling", "ruling_chiefs"]);
const RULED = new Set([
  "ruling", "ruling_chiefs",
  "count", "second_count", "extra_deal", "late_default", "late_regulations", "play_violation", "tribute_violation",
  "return_violation", "play_warning", "tribute_warning", "return_warning", "opening_over",
]);

/** The panel of the rulings page for an answer. All others are on its first panel. */
const PANELS = { count: "count", second_count: "count", extra_deal: "more" };

/** Make the list of alerts and calls, the longest first, and of the people who go there. */
export function makeWaitList(ctx) {
  const rows = new Map();
  const made = new Map();
  const go = h("button", { type: "button", class: "go", onclick: () => ctx.take(ctx.wait?.taken_by !== ctx.me?.name) });
  const who = h("span");
  const rest = () => {
    go.disabled = !isConnected();
  };
  fill(byId("wait-who"), go, who);
  onConnectionChange(rest);

  function draw() {
    const found = list();
    shown(byId("waits"), found.size || ctx.wait);
    data(byId("waits"), "any", found.size ? "yes" : null);
    keyed(byId("wait-list"), rows, [...found.keys()], (key) => row(key));
    for (const [key, node] of rows) fillRow(node, found.get(key), key);
    for (const key of made.keys()) if (!found.has(key)) made.delete(key);
    go.hidden = !ctx.wait || ctx.me?.role === "observer";
    const taken = ctx.wait?.taken_by;
    text(go, say(!taken ? "table.wait.take" : taken === ctx.me?.name ? "table.wait.leave" : "table.wait.instead"));
    text(who, [
      taken && say("table.wait.taken", { who: taken }), ctx.wait?.chiefs && say("table.wait.chiefs"),
    ].filter(Boolean).join(" · "));
  }

  /** Return the reasons to wait by a key that does not change during the wait. */
  function list() {
    const { state } = ctx;
    if (!state) return new Map();
    const calls = state.calls.map((one) => ({
      key: `call ${one.reason} ${one.seat ?? ""}`, name: one.reason, seat: one.seat, since: one.since, call: true,
      words: textOf(one, "words") || one.reason, action: "",
    }));
    const alerts = state.alerts.map((one) => ({
      key: `alert ${one.name}`, name: one.name, since: one.since, call: false,
      words: textOf({ en: one.cause, zh: one.cause_zh }), action: textOf({ en: one.action, zh: one.action_zh }),
    }));
    // Reasons that the console found itself. The hall's list shows them, too.
    const seen = (ctx.wait?.reasons ?? []).filter((one) => SEEN.has(one.name)).map((one) => ({
      key: one.name, name: one.name, since: new Date(one.since_ms - (ctx.at?.skew_ms ?? 0)).toISOString(), call: false,
      words: textOf(one, "words"), action: textOf(one, "action"),
    }));
    const all = [...calls, ...alerts, ...seen].sort((a, b) => a.since.localeCompare(b.since));
    return new Map(all.map((one) => [one.key, one]));
  }

  function row() {
    return h("li", null, h("p", { class: "what" }), h("p", { class: "action" }), h("div", { class: "buttons" }));
  }

  function fillRow(node, one, key) {
    const [what, action, buttons] = node.children;
    data(node, "kind", one.call ? "call" : "alert");
    const seat = one.seat ? `${say("table.wait.seat", { seat: say(`seat.${one.seat}`) })} · ` : "";
    text(what, `${one.call ? "⚑" : "!"} ${seat}${one.words} · ${say("table.wait.since", { time: durationText(ctx.ago(one.since)) })}`);
    text(action, one.action);
    if (!ctx.me || !Object.keys(ctx.commands).length) return;
    if (!made.has(key)) {
      const known = made.set(key, answers(one)).get(key);
      fill(buttons, RULED.has(one.name) ? elsewhere(PANELS[one.name] ?? "desk") : null, known.map((button) => button.node));
    }
    for (const button of made.get(key)) button.offer(ctx.calm() || ctx.offer(button.cmd)?.refused?.code === "WRONG_ROLE" ? ctx.offer(button.cmd) : null);
  }

  function elsewhere(panel) {
    return h("a", { class: "button go", href: `${ctx.path}/rulings#${panel}` }, say(`table.go.${panel}`));
  }

  function answers(one) {
    const byPlayer = one.call && one.seat && !(one.name in ANSWERS) && !RULED.has(one.name);
    const wanted = ANSWERS[one.name] ?? (byPlayer ? ["attend"] : ["acknowledge"]);
    return wanted.filter((cmd) => ctx.commands[cmd]).map((cmd, at) => {
      const spec = ctx.spec(cmd, { seat: one.seat, ...(cmd === "acknowledge" ? { code: one.name.toUpperCase() } : {}) });
      return Object.assign(makeCommandButton({ ...spec, kind: at || RULED.has(one.name) ? "plain" : "go" }), { cmd });
    });
  }

  return { draw, tick: draw, rest };
}
