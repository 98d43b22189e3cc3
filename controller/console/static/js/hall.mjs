// The hall: the tables that wait for a referee, all tables as tiles, and the areas' clocks.

import { makeAreaClocks } from "./areas.mjs";
import { post } from "./api.mjs";
import { byId, fill, h, shown, text } from "./dom.mjs";
import { Filters } from "./hall/filters.mjs";
import { HallList } from "./hall/list.mjs";
import { Newcomers } from "./hall/announcements.mjs";
import { makeHallTiles } from "./hall/tiles.mjs";
import { compareNames } from "./compare-names.mjs";
import { addKeys } from "./keys.mjs";
import { findTable, tableLabel } from "./rows.mjs";
import { makeShell } from "./shell.mjs";
import { GOING, lightSign, UNHEARD } from "./signs.mjs";
import * as sound from "./sound.mjs";
import { makeStoreLine } from "./store-line.mjs";
import { listen } from "./stream.mjs";
import { addTexts, say } from "./words.mjs";
import areaWords from "../words/areas.mjs";
import words from "../words/hall.mjs";

addTexts(words);
addTexts(areaWords);
document.title = say("hall.title");

/** The page's new title. It is set once a second, because a browser redraws its frame for it. */
let title = document.title;
const rows = new Map();
const waits = new Map();
let waitOrder = [];
let me = null;
let lastOrders = { list: "", tiles: "" };
/** All tables in the order of areas and numbers; null after a table came, went or was renamed. */
let sortedTables = null;

const top = makeShell({ title: say("hall.title"), help: say("hall.help"), sounds: true });
const filters = new Filters(() => {
  sortTables();
  clocks.choose();
});
const list = new HallList(byId("list"), { take: claimTable, leave: releaseTable, made: drawRow });
const tiles = makeHallTiles(byId("tiles"));
const clocks = makeAreaClocks(byId("areas"), {
  tell: top.tell,
  voice: top.say,
  near: (area) => filters.near(area),
  tableOf: (area, name) => findTable(rows, area, name),
});
const store = makeStoreLine(byId("main"), top);
const newcomers = new Newcomers(top.say, (area) => filters.near(area));

function claimTable(table, wait) {
  return post(`/api/tables/${encodeURIComponent(table)}/take`, { over: wait?.taken_by ?? null })
    .catch((error) => top.tell(error.message, "bad"));
}

function releaseTable(table) {
  return post(`/api/tables/${encodeURIComponent(table)}/leave`)
    .catch((error) => top.tell(error.message, "bad"));
}

/* The parts of the stream, at most once a frame. */

function applyChanges(changed) {
  const due = new Set();
  if (changed.me) {
    me = changed.me;
    top.me(me);
    for (const table of rows.keys()) due.add(table);
  }
  if (newRows(changed, due)) filters.draw([...new Set([...rows.values()].map((row) => row.area))]);
  if ("waits" in changed) newWaits(changed.waits ?? [], due);
  if ("areas" in changed || "acts" in changed || changed.me) clocks.draw(changed.areas, me, changed.acts);
  if ("store" in changed) store.draw(changed.store);
  sortTables();
  for (const table of due) drawTable(table);
}

/** Store the changed rows and add them to `due`. Return true if the list of areas changed. */
function newRows(changed, due) {
  let areas = false;
  for (const [name, value] of Object.entries(changed)) {
    if (!name.startsWith("row/")) continue;
    const table = name.slice(4);
    const before = rows.get(table);
    areas ||= before?.area !== value?.area;
    if (!before || !value || before.area !== value.area || tableLabel(before) !== tableLabel(value)) sortedTables = null;
    if (value) rows.set(table, value);
    else rows.delete(table);
    filters.forget(table);
    due.add(table);
  }
  return areas;
}

/** Store the new list of waits. Add the tables with a changed wait to `due`. */
function newWaits(told, due) {
  const before = new Map(waits);
  waits.clear();
  waitOrder = told.map((wait) => wait.table);
  for (const wait of told) waits.set(wait.table, wait);
  for (const table of new Set([...before.keys(), ...waits.keys()])) {
    if (JSON.stringify(before.get(table)) === JSON.stringify(waits.get(table))) continue;
    filters.forget(table);
    due.add(table);
  }
  newcomers.draw(told, before, rows, me);
}

function drawTable(table) {
  drawRow(table);
  const row = rows.get(table);
  if (row) tiles.draw(table, row, waits.get(table));
}

function drawRow(table) {
  const row = rows.get(table);
  if (row) list.draw(table, row, waits.get(table), me);
}

/** Sort both views. Draw tables that come into view. */
function sortTables() {
  const regrouped = sortedTables === null;
  sortedTables ??= [...rows.values()]
    .sort((a, b) => compareNames(a.area, b.area) || compareNames(tableLabel(a), tableLabel(b)) || compareNames(a.table, b.table))
    .map((row) => row.table);
  const found = sortedTables.map((table) => rows.get(table)).filter((row) => filters.wanted(row, waits.get(row.table), me));
  const listed = new Set(found.map((row) => row.table));
  const waiting = waitOrder.filter((table) => listed.has(table));
  const tables = [...waiting, ...found.map((row) => row.table).filter((table) => !waits.has(table))];
  if (tables.join(" ") !== lastOrders.list) {
    const before = new Set(lastOrders.list.split(" "));
    lastOrders.list = tables.join(" ");
    list.order(tables);
    groupTiles(found);
    for (const table of tables) if (!before.has(table)) drawTable(table);
  } else if (regrouped) groupTiles(found);
  counts(found, waiting);
}

/** Put the tiles into their areas. */
function groupTiles(found) {
  const shape = found.map((row) => `${row.area}/${row.table}`).join(" ");
  if (shape === lastOrders.tiles) return;
  lastOrders.tiles = shape;
  tiles.order(found);
}

/** Show how many tables wait, also those that a filter hides. Count silent tables apart. */
function counts(found, waiting) {
  const ranks = waiting.map((table) => waits.get(table).reasons[0].rank);
  const people = ranks.filter((rank) => rank < UNHEARD).length;
  const unheard = ranks.filter((rank) => rank === UNHEARD).length;
  const his = [...waits.values()].filter((wait) => wait.reasons[0].rank < UNHEARD && filters.near(rows.get(wait.table)?.area)).length;
  text(byId("list-title"), [people || his ? say("hall.waiting", { n: people }) : say("hall.nobody-waits"),
    his > people ? say("hall.hidden", { n: his - people }) : "",
    unheard ? say("hall.unheard", { n: unheard }) : ""].filter(Boolean).join(" · "));
  text(byId("to-list"), [say("hall.to-list"), his || ""].join(" ").trim());
  title = his ? `(${his}) ${say("hall.title")}` : say("hall.title");
  const simulated = found.filter((row) => row.simulated).length;
  text(byId("count"), [say("hall.count", { n: found.length, all: rows.size }),
    simulated ? say("hall.simulated", { n: simulated }) : ""].filter(Boolean).join(" · "));
  shown(byId("none"), rows.size > 0 && !found.length);
}

/* Views, keys, seconds. */

const main = byId("main");

function showView(name) {
  main.dataset.view = name;
  byId("to-list").setAttribute("aria-pressed", String(name === "list"));
  byId("to-tiles").setAttribute("aria-pressed", String(name === "tiles"));
}

byId("to-list").addEventListener("click", () => showView("list"));
byId("to-tiles").addEventListener("click", () => showView("tiles"));
showView("list");
fill(byId("legend"), ["busy", "waits", "stands", "calm", "dark"].map((light) =>
  h("span", { data: { light } }, h("b", { class: "sign", "aria-hidden": "true" }, lightSign(light)), say(`light.${light}`))),
h("span", { data: { light: "waits", taken: "yes" } }, h("b", { class: "sign", "aria-hidden": "true" }, GOING), say("light.going")),
h("span", { class: "level" }, h("small", { class: "sign", "aria-hidden": "true" }, "8"), say("hall.level")));

addKeys([
  ["ArrowDown", say("keys.down"), () => list.move(1)],
  ["ArrowUp", say("keys.up"), () => list.move(-1)],
  ["Home", say("keys.first"), () => list.move(-Infinity)],
  ["Enter", say("keys.open"), () => false], // the browser opens a link itself
  ["t", say("keys.take"), () => list.press()],
  ["/", say("keys.find"), () => filters.find()],
  ["v", say("keys.tiles"), () => showView(main.dataset.view === "list" ? "tiles" : "list")],
]);
filters.search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    filters.search.value = "";
    sortTables();
  } else if (event.key !== "ArrowDown" && event.key !== "Enter") return;
  event.preventDefault();
  list.move(-Infinity);
});

setInterval(() => {
  if (document.title !== title) document.title = title;
  if (document.hidden) return;
  list.tick();
  clocks.tick();
}, 1000);

// With sound, the page also listens while it is hidden.
listen("/stream/hall", applyChanges, top.stale, sound.isSoundOn);
