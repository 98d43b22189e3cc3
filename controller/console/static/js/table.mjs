// The page of one table: all known facts, and every command for it.

import { get, post } from "./api.mjs";
import { clockStopText } from "./area-stop.mjs";
import { byId, data, fill, h, keyed, shown, text } from "./dom.mjs";
import { loadFaults } from "./faults.mjs";
import { addKeys } from "./keys.mjs";
import { refusalText, updateCommandButtons } from "./command-button.mjs";
import { makeShell } from "./shell.mjs";
import { listen } from "./stream.mjs";
import { makeEventList } from "./table/journal.mjs";
import { makeMatchPanel } from "./table/match.mjs";
import { makeHealthPanel, makeMachinePanel, makeProofPanel } from "./table/machine.mjs";
import { makeCommandButtons, phaseKey, waitKey } from "./table/commands.mjs";
import { makeSeatRound } from "./table/seats.mjs";
import { makeWaitList } from "./table/wait-list.mjs";
import { now, timeOfDay } from "./time.mjs";
import { addTexts, say, textOf } from "./words.mjs";
import words from "../words/table.mjs";

addTexts(words);

const id = decodeURIComponent(location.pathname.split("/")[2] ?? "");
const path = `/table/${encodeURIComponent(id)}`;
document.title = say("table.title", { table: id });
const top = makeShell({ title: say("table.title", { table: id }), help: say("table.help") });

/** Data that the parts of the page share. `atMs`: the console's time when the state arrived. */
const ctx = { table: id, path, top, me: null, state: null, atMs: 0, offers: null, wait: null, commands: {} };
/** Return the milliseconds since a stamp of the table. Its clock may differ from the console's. */
ctx.ago = (stamp) => now() - Date.parse(stamp) - (ctx.at?.skew_ms ?? 0);
const parts = [makeMachinePanel(ctx), makeSeatRound(ctx), makeMatchPanel(ctx), makeWaitList(ctx), makeCommandButtons(ctx), makeHealthPanel(ctx), makeProofPanel(ctx)];
const eventList = makeEventList(ctx);
const myCommands = new Map();

Promise.all([get("/api/commands"), loadFaults()])
  .then(([known]) => {
    ctx.commands = known;
    drawMine(ctx.orders ?? []);
    draw();
  })
  .catch((error) => top.tell(error.message, "bad"));

listen(`/stream/table/${encodeURIComponent(id)}`, (changed) => {
  if (changed.me) {
    ctx.me = changed.me;
    top.me(changed.me);
  }
  if ("state" in changed) {
    ctx.state = changed.state;
    ctx.atMs = now();
  }
  if ("offers" in changed) {
    ctx.offers = changed.offers && new Map(changed.offers.map((one) => [one.cmd, one]));
    ctx.offersOf = phaseKey(ctx.state);
    ctx.offersAt = waitKey(ctx.state);
  }
  if ("wait" in changed) ctx.wait = changed.wait;
  if ("table" in changed) ctx.at = changed.table;
  if ("told" in changed) {
    eventList.newest(changed.told ?? []);
    updateCommandButtons({ orders: seenCommands(changed.told ?? []) });
  }
  if ("orders" in changed) {
    updateCommandButtons(changed);
    ctx.orders = changed.orders ?? [];
    drawMine(ctx.orders);
  }
  draw();
}, top.stale);

setInterval(() => {
  for (const part of parts) part.tick?.();
}, 500);

addKeys([
  ["t", say("table.key.take"), () => byId("wait-who").querySelector("button")?.click()],
  ["n", say("table.key.next"), () => byId("now-list").querySelector("button:not(:disabled)")?.focus()],
  ["r", say("table.key.rulings"), () => location.assign(`${path}/rulings`)],
  ["s", say("table.key.sheet"), () => location.assign(`${path}/sheet`)],
  ["Escape", say("table.key.hall"), () => location.assign("/")],
]);

function draw() {
  drawHeading();
  for (const part of parts) part.draw();
}

/** Return the commands that the table's own journal contains now. */
function seenCommands(lines) {
  return lines.filter((one) => one.order).map((one) => ({ id: one.order, seen: one.n }));
}

const title = { id: h("strong", { class: "id" }), line: h("p", { class: "line" }), pairs: h("p", { class: "pairs" }), stand: h("p", { class: "stand", role: "status" }), stop: h("p", { class: "area-stop", role: "status" }) };
byId("head").append(h("div", { class: "top" }, title.id, title.stand), title.stop, title.pairs, title.line, h("nav", { class: "links", "aria-label": say("table.links") },
  h("a", { class: "button", href: `${path}/rulings` }, say("table.rulings")),
  h("a", { class: "button", href: `${path}/sheet` }, say("table.sheet")),
  h("a", { class: "button", href: `/display/${encodeURIComponent(id)}` }, say("table.display")),
  h("a", { class: "button home", href: "/" }, say("table.hall"))));

function drawHeading() {
  const { state, at } = ctx;
  const how = at?.standing ?? "unknown";
  data(byId("main"), "standing", how);
  text(title.id, id);
  text(title.stand, say(`table.standing.${how}`, { time: at?.since_ms ? timeOfDay(at.since_ms, true) : "" }));
  data(title.stand, "how", how === "live" ? null : "bad");
  text(title.stop, clockStopText(at));
  if (!state) {
    text(title.pairs, say("table.unheard"));
    text(title.line, "");
    return;
  }
  const { match } = state;
  fill(title.pairs, pair(match, "NS"), h("span", { class: "versus" }, say("table.versus")), pair(match, "EW"));
  const level = match.level && match.deal ? say("table.level", { level: match.level }) : null;
  const levels = match.levels?.NS && say("table.levels", { NS: match.levels.NS, EW: match.levels.EW });
  const where = match.event && say("table.event", { event: match.event, round: match.round, match: match.match_no });
  const no = match.table_no && say("table.number", { no: match.table_no });
  const marks = [
    state.simulated && say("table.simulated"), state.mode === "test" && say("table.test"),
    match.extra && say("table.extra"), match.by_hand && say("table.by-hand"),
  ];
  fill(title.line, [no, where, match.deal ? say("table.deal", { deal: match.deal }) : null, level, levels, ...marks]
    .filter(Boolean).map((one) => h("span", { class: "bit" }, one)));
}

function pair(match, side) {
  const known = match.pairs?.[side];
  return h("span", { class: "pair" }, h("b", null, say(`side.${side}`)), " ",
    known ? `${known.name} (${known.id})` : say("table.nobody"));
}

function drawMine(list) {
  if (list.length && !myCommands.size) fill(byId("mine-list"));
  const byKey = new Map(list.map((one) => [one.id, one]));
  const newest = [...byKey.keys()];
  keyed(byId("mine-list"), myCommands, newest, (key) => h("li", null, h("span"), " ",
    h("button", { type: "button", class: "plain small", onclick: (event) => askAgain(event.target, key) }, say("order.again"))));
  for (const [key, node] of myCommands) {
    const one = byKey.get(key);
    const [words, button] = node.children;
    data(node, "fate", one.fate);
    const name = textOf(ctx.commands[one.cmd] ?? {}, "label") || one.cmd;
    const fate = one.fate === "done" && one.seen === null ? say("order.accepted") : say(`table.fate.${one.fate}`);
    text(words, [timeOfDay(one.at_ms, true), one.person, name, fate, one.error ? refusalText(one.error) : ""].filter(Boolean).join(" · "));
    shown(button, one.fate === "unknown" && (ctx.me?.role === "chief" || ctx.me?.role === one.role));
  }
  if (!list.length) fill(byId("mine-list"), h("li", { class: "quiet" }, say("table.fate.none")));
}

/** Ask for the fate of a command from any person. It is sent with the same id, so it acts once. */
async function askAgain(button, order) {
  button.disabled = true;
  try {
    const answer = await post(`/api/tables/${encodeURIComponent(id)}/orders/${encodeURIComponent(order)}/again`);
    if (answer.unknown) top.tell(say("order.unknown"), "bad");
  } catch (error) {
    top.tell(error.message, "bad");
  }
  button.disabled = false;
}

/** Report that this person goes to the table, also in place of another; or no longer goes. */
async function claimTable(goes) {
  const table = `/api/tables/${encodeURIComponent(id)}`;
  try {
    await (goes ? post(`${table}/take`, { over: ctx.wait?.taken_by ?? null }) : post(`${table}/leave`));
  } catch (error) {
    top.tell(error.message, "bad");
  }
}
ctx.take = claimTable;
