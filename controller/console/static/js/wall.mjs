// The wall: all tables in large type on pages in turn, for everybody in the hall.
//
// The wall does not show the reason of a call, nor its seat: only that a table calls. ?area=A shows
// only one area; ?s=12 turns the page every 12 seconds.

import { announcementText, areaLeftMs } from "./areas.mjs";
import { attr, byId, data, fill, framed, h, keyed, shown, text } from "./dom.mjs";
import { compareNames } from "./compare-names.mjs";
import { addKeys } from "./keys.mjs";
import { isCurrent, remainingMs, tableLabel } from "./rows.mjs";
import { lightSign } from "./signs.mjs";
import { listen, staleText } from "./stream.mjs";
import { durationText, timeOfDay } from "./time.mjs";
import { addTexts, say, setLanguage, textOf } from "./words.mjs";
import areaWords from "../words/areas.mjs";
import hallWords from "../words/hall.mjs";
import words from "../words/wall.mjs";

addTexts(words);
addTexts(hallWords);
addTexts(areaWords);
document.title = say("wall.title");

/** The minimum height of a table's card in its own letters. */
const CARD_EM = 8.6;
/** The factors for larger letters. They are used if all tables then still fit on one page. */
const GROW = [2.6, 2.2, 1.8, 1.5, 1.25, 1];
/** From this time on, a table's card has room only for whole minutes. */
const HOUR_MS = 3_600_000;
/** Clocks of areas that differ by at most this time are shown as one clock. */
const ALIKE_MS = 2500;
const asked = new URLSearchParams(location.search);
const only = asked.get("area");
const turnMs = Math.max(4, Number(asked.get("s")) || 8) * 1000;
const block = byId("tables");
const rows = new Map();
const cards = new Map();
const nodes = new Map();
const clocks = new Map();
const clockNodes = new Map();
let areas = [];
let pageNumber = 0;
let turning = true;
let shownKeys = "";

/** Return how many tables fit on one page in readable size. Few tables are larger. */
function perPage(count) {
  let most = 1;
  for (const grow of GROW) {
    block.style.setProperty("--grow", grow);
    const style = getComputedStyle(block);
    const columns = style.gridTemplateColumns.split(" ").length;
    const gap = parseFloat(style.rowGap) || 0;
    const lines = Math.max(1, Math.floor((block.clientHeight + gap) / (CARD_EM * parseFloat(style.fontSize) + gap)));
    block.style.setProperty("--rows", lines);
    most = columns * lines;
    if (most >= count) break;
  }
  return most;
}

function make(table) {
  const one = {
    sign: h("span", { class: "sign", "aria-hidden": "true" }),
    no: h("b", { class: "no" }),
    level: h("b", { class: "level" }),
    ns: side(),
    ew: side(),
    phase: h("span", { class: "phase" }),
    left: h("b", { class: "left" }),
  };
  one.node = h("li", null,
    h("p", { class: "head" }, one.sign, one.no, one.level, one.left),
    one.ns.node, one.ew.node, h("p", { class: "foot" }, one.phase));
  cards.set(table, one);
  return one.node;
}

function side() {
  const name = h("span", { class: "name" });
  const level = h("b", { class: "at" });
  return { node: h("p", { class: "side" }, name, level), name, level };
}

function drawSide(one, row, which) {
  const pair = row.pairs?.[which];
  text(one.name, pair ? `${say(`wall-side.${which}`)} ${pair.name}` : "");
  text(one.level, row.levels?.[which] ?? "");
}

function draw(table) {
  const one = cards.get(table);
  const row = rows.get(table);
  if (!one || !row) return;
  const attended = row.light === "waits" || row.light === "stands" || Boolean(row.suspended);
  const light = row.light === "dark" ? "dark" : attended ? "waits" : row.light;
  data(one.node, "light", light);
  text(one.sign, lightSign(light));
  text(one.no, tableLabel(row));
  text(one.level, row.level ? say("wall.level", { level: row.level }) : "");
  drawSide(one.ns, row, "NS");
  drawSide(one.ew, row, "EW");
  const laid = Boolean(row.pairs?.NS || row.pairs?.EW);
  const deal = row.deal ? `${say("row.deal", { deal: row.deal })} · ` : "";
  const phase = textOf(row, "phase");
  text(one.phase, !isCurrent(row)
    ? say("wall.dark", { time: timeOfDay(row.since_ms) })
    : attended ? deal + say(row.taken_by ? "wall.referee" : "wall.waits") : laid ? deal + phase : say("wall.none"));
  tick(one, row);
}

function tick(one, row) {
  const left = remainingMs(row);
  text(one.left, left === null || !isCurrent(row) ? "" : left < HOUR_MS ? durationText(left) : say("wall.minutes", { m: Math.floor(left / 60_000) }));
}

/** Show another page: `step` pages further. */
function turn(step) {
  const found = [...rows.values()].filter((row) => !only || row.area === only)
    .sort((a, b) => compareNames(a.area, b.area) || compareNames(tableLabel(a), tableLabel(b)));
  const most = perPage(found.length);
  const pages = Math.max(1, Math.ceil(found.length / most));
  pageNumber = (((pageNumber + step) % pages) + pages) % pages;
  const here = found.slice(pageNumber * most, (pageNumber + 1) * most).map((row) => row.table);
  if (here.join(" ") !== shownKeys) {
    shownKeys = here.join(" ");
    keyed(block, nodes, here, make);
    for (const table of cards.keys()) if (!nodes.has(table)) cards.delete(table);
    for (const table of here) draw(table);
  }
  text(byId("page"), say("wall.page", { page: pageNumber + 1, pages, n: found.length }));
}

function makeClock(area) {
  const one = { time: h("b", { class: "time" }), said: h("b", { class: "said" }) };
  one.node = h("section", { "aria-label": area }, h("h2", null, area), one.time, one.said);
  clocks.set(area, one);
  return one.node;
}

/** Group the areas in their order. Neighbours with the same clock form one group. */
function groupByClock(seen) {
  const groups = [];
  for (const view of seen.sort((a, b) => compareNames(a.area, b.area))) {
    const [left, last] = [areaLeftMs(view), groups.at(-1)];
    const stopped = Boolean(view.held?.length) && !view.running;
    const same = last && last.announced === view.announced && (last.left === null) === (left === null)
      && last.stopped === stopped && Math.abs((last.left ?? 0) - (left ?? 0)) < ALIKE_MS;
    if (same) last.areas.push(view.area);
    else groups.push({ areas: [view.area], left, announced: view.announced, stopped });
  }
  return groups;
}

function drawClocks() {
  const groups = new Map(groupByClock(areas.filter((view) => !only || view.area === only)).map((group) => {
    const names = group.areas;
    return [names.length > 2 ? `${names[0]} – ${names.at(-1)}` : names.join(" "), group];
  }));
  keyed(byId("clocks"), clockNodes, [...groups.keys()], makeClock);
  for (const name of clocks.keys()) if (!groups.has(name)) clocks.delete(name);
  data(byId("clocks"), "many", groups.size > 4 ? "yes" : null);
  for (const [name, { left, announced, stopped }] of groups) {
    const one = clocks.get(name);
    text(one.time, left === null ? "–:––" : durationText(left));
    data(one.node, "near", left !== null && left < 300_000 ? "yes" : null);
    data(one.node, "stopped", stopped ? "yes" : null);
    text(one.said, stopped ? say("wall.stopped") : announcementText(announced));
  }
}

const again = framed(() => turn(0));

listen("/stream/hall", (changed) => {
  if (changed.me?.language) setLanguage(changed.me.language);
  let other = false;
  for (const [name, value] of Object.entries(changed)) {
    if (!name.startsWith("row/")) continue;
    const table = name.slice(4);
    other ||= !rows.has(table) || !value;
    if (value) rows.set(table, value);
    else rows.delete(table);
    draw(table);
  }
  if (changed.areas !== undefined) areas = changed.areas ?? [];
  drawClocks();
  if (other) again();
}, (since, connecting) => {
  data(document.body, "stale", since ? "yes" : null);
  shown(byId("stale"), since);
  text(byId("stale"), since ? staleText(since, connecting) : "");
});

function pause(stop) {
  turning = !stop;
  text(byId("pause"), turning ? say("wall.pause") : say("wall.go"));
  attr(byId("pause"), "aria-pressed", String(!turning));
}

byId("back").addEventListener("click", () => turn(-1));
byId("next").addEventListener("click", () => turn(1));
byId("pause").addEventListener("click", () => pause(turning));
addKeys([
  ["ArrowRight", say("wall.next"), () => turn(1)],
  ["ArrowLeft", say("wall.back"), () => turn(-1)],
  [" ", say("wall.pause"), (event) => (event.target.closest?.("button, a") ? false : pause(turning))],
]);
fill(byId("legend"), ["busy", "waits", "calm", "dark"].map((light) => h("span", { data: { light } },
  h("b", { "aria-hidden": "true" }, `${lightSign(light)} `), light === "waits" ? say("wall.waits") : say(`light.${light}`))));
pause(false);
addEventListener("resize", again);
setInterval(() => turning && !document.hidden && turn(1), turnMs);
setInterval(() => {
  drawClocks();
  for (const [table, one] of cards) if (rows.has(table)) tick(one, rows.get(table));
}, 1000);
