// The ruling desk of one table: pending decisions, the ways to decide, and the effects.

import { get } from "../api.mjs";
import { clockStopText } from "../area-stop.mjs";
import { attr, byId, data, fill, framed, h, shown, text } from "../dom.mjs";
import { loadFaults } from "../faults.mjs";
import { addKeys } from "../keys.mjs";
import { updateCommandButtons } from "../command-button.mjs";
import { markRequestStarted } from "../settled.mjs";
import { makeShell } from "../shell.mjs";
import { listen } from "../stream.mjs";
import { addTexts, hasText, say, textOf } from "../words.mjs";
import words from "../../words/rulings.mjs";

addTexts(words);

const { makeCallStrip } = await import("./calls.mjs");
const { makeCorrectionPanel } = await import("./corrections.mjs");
const { makeCountPanel } = await import("./count.mjs");
const { makeClockPanel } = await import("./clocks.mjs");
const { makeDeskPanel } = await import("./desk.mjs");
const { JudgePanel } = await import("./judge.mjs");
const { makeSeriousDecisionPanel } = await import("./serious-decisions.mjs");

const table = decodeURIComponent(location.pathname.split("/")[2]);
const top = makeShell({ title: say("rulings.title", { table }), help: say("rulings.help") });

/** Data and functions for every panel: the present state of the table, and requests for more. */
const at = {
  table,
  state: null,
  me: null,
  wait: null,
  skew_ms: 0,
  book: null,
  desk: { cases: [], counters: [], suggestions: [], counts: [], whole: false },
  offers: new Map(),
  tell: top.tell,
  offer: (cmd) => at.offers.get(cmd) ?? (at.me && (at.offers.size || !at.may()) ? refusedForRole() : null),
  chief: () => at.me?.role === "chief",
  may: () => ["referee", "chief"].includes(at.me?.role),
  show: (name) => select(name, true),
};

/** Return the offer for a command that this role may not send. */
function refusedForRole() {
  const words = say("rulings.not-your-role", { role: say(`role.${at.me.role}`) });
  return { seats: null, refused: { message: words, message_zh: words, action: "", action_zh: "" } };
}

const PANELS = {
  desk: makeDeskPanel,
  judge: (at) => new JudgePanel(at),
  count: makeCountPanel,
  clock: makeClockPanel,
  correct: makeCorrectionPanel,
  more: makeSeriousDecisionPanel,
};
const panels = Object.fromEntries(Object.entries(PANELS).map(([name, make]) => [name, make(at)]));
const callStrip = makeCallStrip(at);
const tabs = {};
const boxes = {};
let selected = null;

for (const name of Object.keys(PANELS)) {
  const sign = h("span", { class: "mark", "aria-hidden": "true" });
  tabs[name] = h("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`,
    onclick: () => select(name), onkeydown: walk,
  }, say(`rulings.tab.${name}`), sign);
  boxes[name] = h("section", {
    role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, tabindex: -1,
  }, panels[name].node);
  byId("tabs").append(tabs[name]);
  byId("panels").append(boxes[name]);
}

/** Enable or disable the panels. They are disabled if the table is unknown or was removed. */
function setPanelsEnabled(whether) {
  for (const [name, box] of Object.entries(boxes)) box.inert = name !== "judge" && !whether;
}

function walk(event) {
  const names = Object.keys(tabs);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = names[(names.indexOf(selected) + step + names.length) % names.length];
  select(next);
  tabs[next].focus();
}

function select(name, move = false) {
  if (!(name in tabs)) return;
  selected = name;
  for (const [one, tab] of Object.entries(tabs)) {
    attr(tab, "aria-selected", String(one === name));
    tab.tabIndex = one === name ? 0 : -1;
    shown(boxes[one], one === name);
  }
  history.replaceState(null, "", `#${name}`);
  panels[name].opened?.();
  panels[name].draw();
  tabs[name].scrollIntoView?.({ block: "nearest", inline: "nearest" });
  if (move) boxes[name].focus({ preventScroll: false });
}

setPanelsEnabled(false);

const about = {
  place: h("b"),
  phase: h("span", { class: "phase" }),
  next: h("span", { class: "quiet" }),
  levels: h("span"),
  stop: h("b", { class: "area-stop", role: "status" }),
  away: h("b", { class: "bad" }),
  old: h("b", { class: "bad", role: "status" }),
  back: h("a", { class: "button", href: `/table/${encodeURIComponent(table)}` }, say("rulings.to-table")),
};
fill(byId("about"), about.back, about.place, about.levels, about.phase, about.next, about.stop, about.away, about.old);

function aboutTable() {
  const match = at.state?.match;
  if (!match?.match) {
    text(about.place, at.state ? say("rulings.no-match") : say("rulings.unheard"));
    return;
  }
  const title = at.book ? textOf(at.book, "title") : match.profile;
  text(about.place, say("rulings.place", { no: match.table_no ?? "", event: match.event ?? "", deal: match.deal ?? 0 }));
  about.place.title = title;
  const levels = match.levels.NS ? say("rulings.levels", { ns: match.levels.NS, ew: match.levels.EW, level: match.level ?? "" }) : "";
  text(about.levels, levels);
  text(about.phase, textOf(match, "phase"));
  text(about.next, textOf(match, "next") === textOf(match, "phase") ? "" : textOf(match, "next"));
}

function drawMarks() {
  const open = at.desk.cases.filter((one) => one.state === "proposed" || waits(one)).length + (at.state?.match.spoken?.length ?? 0);
  const said = {
    desk: open + at.desk.suggestions.length,
    count: at.state?.match.claimed ? 1 : 0,
    clock: (at.state?.match.clocks ?? []).some((one) => one.duty === "play") ? 1 : 0,
  };
  for (const [name, tab] of Object.entries(tabs)) {
    text(tab.querySelector(".mark"), said[name] ? String(said[name]) : "");
  }
}

const waits = (one) => one.state === "decided" && one.verbal && !one.confirmed_by;

const draw = framed(() => {
  aboutTable();
  callStrip.draw();
  drawMarks();
  for (const one of Object.values(panels)) one.draw();
});
at.draw = draw;

loadFaults().catch((error) => top.tell(error.message, "bad"));

// Data that the state does not contain is requested again when a related part changes.
let asked = "";
let busy = false;
const AGAIN_MS = 300;
/** The time after which an unanswered request is repeated. */
const RETRY_MS = 2000;

async function refresh() {
  const wanted = sign(at.state);
  if (wanted === asked || busy) return;
  busy = true;
  try {
    at.desk = await get(`/api/tables/${encodeURIComponent(table)}/desk`);
    asked = wanted;
    text(about.old, "");
    draw();
  } catch (error) {
    text(about.old, `${say("rulings.desk-old")} (${error.message})`);
  } finally {
    busy = false;
  }
  if (sign(at.state) === asked) return;
  const over = markRequestStarted();
  setTimeout(() => refresh().finally(over), about.old.textContent ? RETRY_MS : AGAIN_MS);
}

function sign(state) {
  const match = state?.match;
  if (!match) return "";
  const exchange = match.tribute;
  return JSON.stringify([
    match.match, match.deal, match.phase, match.claimed, match.claims.length, match.attempt,
    match.rulings.map((one) => [one.id, one.state, one.penalty, one.confirmed_by]),
    exchange && [exchange.payments.length, exchange.given.length, exchange.laid.length, exchange.anti],
    state.calls.map((call) => [call.reason, call.seat]),
  ]);
}

async function loadRulebook(profile) {
  try {
    at.book = await get(`/api/rulebooks/${encodeURIComponent(profile)}`);
    for (const one of Object.values(panels)) one.learned?.();
    draw();
  } catch (error) {
    top.tell(error.message, "bad");
    if (error.status === 0 || error.status >= 500) setTimeout(() => loadRulebook(profile), RETRY_MS);
  }
}

listen(`/stream/table/${encodeURIComponent(table)}`, (changed) => {
  updateCommandButtons(changed);
  if (changed.me) {
    at.me = changed.me;
    top.me(changed.me);
  }
  if ("wait" in changed) at.wait = changed.wait;
  if ("table" in changed) {
    at.skew_ms = changed.table?.skew_ms ?? 0;
    showState(changed.table ?? { standing: "gone" });
  }
  if ("offers" in changed) at.offers = new Map((changed.offers ?? []).map((one) => [one.cmd, one]));
  if (changed.state === null) setPanelsEnabled(false);
  if (changed.state) {
    setPanelsEnabled(true);
    const before = at.state?.match.profile;
    at.state = changed.state;
    if (changed.state.match.profile !== before) loadRulebook(changed.state.match.profile);
    refresh();
  }
  draw();
}, top.stale);

setInterval(() => callStrip.tick(), 1000);

function showState(told) {
  const key = `rulings.standing.${told.standing}`;
  text(about.away, told.standing === "live" || !hasText(key) ? "" : say(`rulings.standing.${told.standing}`));
  data(document.body, "standing", told.standing);
  text(about.stop, clockStopText(told));
}

addKeys(Object.keys(PANELS).map((name, number) => [
  String(number + 1), say(`rulings.tab.${name}`), () => {
    select(name);
    tabs[name].focus();
  },
]));
addEventListener("hashchange", () => select(location.hash.slice(1)));
const first = location.hash.slice(1);
select(first in PANELS ? first : "desk");
