// The hall: who waits for a referee, all tables at a glance, the areas' clocks.

import { areaClocks } from "./areas.mjs";
import { post } from "./api.mjs";
import { LEVELS } from "./cards.mjs";
import { byId, fill, h, shown, text } from "./dom.mjs";
import { hallList } from "./hall-list.mjs";
import { hallTiles } from "./hall-tiles.mjs";
import { keep, kept, own } from "./kept.mjs";
import { keys } from "./keys.mjs";
import { facts, inOrder, number, phaseWords, reasonWords } from "./rows.mjs";
import { shell } from "./shell.mjs";
import { lightSign } from "./signs.mjs";
import { beep } from "./sound.mjs";
import { listen } from "./stream.mjs";
import { say, teach } from "./words.mjs";
import areaWords from "../words/areas.mjs";
import words from "../words/hall.mjs";

teach(words);
teach(areaWords);
document.title = say("hall.title");

const rows = new Map();
const waits = new Map();
const texts = new Map();
let waitOrder = [];
let me = null;
let mine = new Set(kept(own("areas"), []));
let here = new Set();
let known = new Set();
let first = true;
let ordered = { list: [], tiles: "" };
/** All rows in the order of areas and numbers; null: a table came, went or was renamed. */
let sorted = null;

const top = shell({ title: say("hall.title"), sounds: true });
const list = hallList(byId("list"), { take, leave });
const tiles = hallTiles(byId("tiles"));
const clocks = areaClocks(byId("areas"), { tell: top.tell, voice: top.say, near: (area) => near(area) });

/* Filters. */

const STATES = {
  all: () => true,
  waits: (row, wait) => Boolean(wait),
  untaken: (row, wait) => Boolean(wait) && !wait.taken_by,
  mine: (row, wait) => Boolean(wait?.taken_by) && wait.taken_by === me?.name,
  stands: (row) => row.light === "stands",
  busy: (row) => row.light === "busy" || row.light === "waits",
  calm: (row) => row.light === "calm",
  suspended: (row) => Boolean(row.suspended),
  unsigned: (row) => row.unsigned > 0,
  dark: (row) => row.light === "dark",
};
const search = byId("search");
const state = fill(byId("state"), Object.keys(STATES).map((one) => h("option", { value: one }, say(`state.${one}`))));
const level = fill(byId("level"), h("option", { value: "" }, say("hall.any-level")),
  LEVELS.map((one) => h("option", { value: one }, say("hall.plays", { level: one }))));
for (const one of [search, state, level]) one.addEventListener("input", order);

/** Whether an area is this person's: with none chosen that is here, all are. */
function near(area) {
  return mine.has(area) || ![...mine].some((one) => here.has(one));
}

function wanted(row) {
  const wait = waits.get(row.table);
  if (!near(row.area) || !STATES[state.value](row, wait)) return false;
  if (level.value && row.level !== level.value) return false;
  const typed = search.value.trim().toLowerCase();
  return !typed || typed.split(/\s+/).every((one) => textOf(row, wait).includes(one));
}

/** All that can be searched of a row; made when somebody searches. */
function textOf(row, wait) {
  let found = texts.get(row.table);
  if (found === undefined) {
    const players = Object.values(row.pairs ?? {}).flatMap((pair) => Object.values(pair?.players ?? {}));
    found = [row.table, number(row), row.area, phaseWords(row), ...facts(row), ...players, wait?.taken_by ?? "",
      ...(wait?.reasons ?? []).map(reasonWords)].join(" ").toLowerCase();
    texts.set(row.table, found);
  }
  return found;
}

function chooseArea(area) {
  if (mine.has(area)) mine.delete(area);
  else mine.add(area);
  keep(own("areas"), [...mine]);
  drawChips();
  order();
}

function drawChips() {
  const areas = [...new Set([...rows.values()].map((row) => row.area))].sort(inOrder);
  here = new Set(areas);
  const chips = byId("mine");
  shown(chips, areas.length > 1);
  if (chips.dataset.areas !== areas.join("\n")) {
    chips.dataset.areas = areas.join("\n");
    fill(chips, areas.map((area) => h("button", { type: "button", class: "small", data: { area }, onclick: () => chooseArea(area) }, area)));
  }
  for (const chip of chips.children) chip.setAttribute("aria-pressed", String(mine.has(chip.dataset.area)));
}

/* What the stream brings: at most once a frame. */

function take(table, wait) {
  return post(`/api/tables/${encodeURIComponent(table)}/take`, { over: wait?.taken_by ?? null })
    .catch((error) => top.tell(error.message, "bad"));
}

function leave(table) {
  return post(`/api/tables/${encodeURIComponent(table)}/leave`)
    .catch((error) => top.tell(error.message, "bad"));
}

function news(changed) {
  const due = new Set();
  let areas = false;
  if (changed.me) {
    me = changed.me;
    top.me(me);
    for (const table of rows.keys()) due.add(table);
  }
  for (const [name, value] of Object.entries(changed)) {
    if (!name.startsWith("row/")) continue;
    const table = name.slice(4);
    const before = rows.get(table);
    areas ||= before?.area !== value?.area;
    if (!before || !value || before.area !== value.area || number(before) !== number(value)) sorted = null;
    if (value) rows.set(table, value);
    else rows.delete(table);
    texts.delete(table);
    due.add(table);
  }
  if (changed.waits !== undefined) for (const table of newWaits(changed.waits ?? [])) due.add(table);
  if (areas) drawChips();
  if (changed.areas !== undefined || changed.me) clocks.draw(changed.areas, me);
  order();
  for (const table of due) drawTable(table);
  first = false;
}

function drawTable(table) {
  const row = rows.get(table);
  if (!row) return;
  list.draw(table, row, waits.get(table), me);
  tiles.draw(table, row, waits.get(table));
}

/** Take the new list of waits; return the tables whose wait is another one. */
function newWaits(told) {
  const due = [];
  const before = new Map(waits);
  waits.clear();
  waitOrder = told.map((wait) => wait.table);
  for (const wait of told) {
    waits.set(wait.table, wait);
    if (JSON.stringify(before.get(wait.table)) !== JSON.stringify(wait)) due.push(wait.table);
  }
  for (const table of before.keys()) if (!waits.has(table)) due.push(table);
  for (const table of due) texts.delete(table);
  sayNew(told, before);
  return due;
}

/** Tell by voice and sound who is new: what nobody goes to, and of these areas alone. */
function sayNew(told, before) {
  const fresh = [];
  for (const wait of told) {
    const key = `${wait.table} ${wait.reasons[0].name} ${wait.reasons[0].since_ms}`;
    const row = rows.get(wait.table);
    if (!row) continue;
    const late = wait.chiefs && me?.role === "chief" && !before.get(wait.table)?.chiefs;
    if (late) fresh.push([wait, say("voice.chiefs", { table: number(row) })]);
    else if (!known.has(key) && !wait.taken_by && near(row.area)) {
      fresh.push([wait, say("voice.new", { table: number(row), words: reasonWords(wait.reasons[0]) })]);
    }
  }
  known = new Set(told.map((wait) => `${wait.table} ${wait.reasons[0].name} ${wait.reasons[0].since_ms}`));
  if (first || !fresh.length) return;
  const urgent = fresh.some(([wait]) => wait.reasons[0].rank <= 2);
  top.say(fresh.map(([, said]) => said).join(" "), { urgent });
  beep(urgent ? 4 : 2);
}

/** Bring both views into their order; a table that comes in is drawn. */
function order() {
  sorted ??= [...rows.values()]
    .sort((a, b) => inOrder(a.area, b.area) || inOrder(number(a), number(b)) || inOrder(a.table, b.table))
    .map((row) => row.table);
  const found = sorted.map((table) => rows.get(table)).filter(wanted);
  const listed = new Set(found.map((row) => row.table));
  const waiting = waitOrder.filter((table) => listed.has(table));
  const rest = found.map((row) => row.table).filter((table) => !waits.has(table));
  const tables = [...waiting, ...rest];
  if (tables.join(" ") !== ordered.list.join(" ")) {
    const before = new Set(ordered.list);
    ordered.list = tables;
    list.order(tables);
    const shape = found.map((row) => `${row.area}/${row.table}`).join(" ");
    if (shape !== ordered.tiles) {
      ordered.tiles = shape;
      tiles.order(found);
    }
    for (const table of tables) if (!before.has(table)) drawTable(table);
  }
  text(byId("list-title"), waiting.length ? say("hall.waiting", { n: waiting.length }) : say("hall.nobody-waits"));
  const simulated = found.filter((row) => row.simulated).length;
  text(byId("count"), [say("hall.count", { n: found.length, all: rows.size }),
    simulated ? say("hall.simulated", { n: simulated }) : ""].filter(Boolean).join(" · "));
  shown(byId("none"), rows.size > 0 && !found.length);
}

/* Views, keys, seconds. */

const main = byId("main");

function view(name) {
  main.dataset.view = name;
  byId("to-list").setAttribute("aria-pressed", String(name === "list"));
  byId("to-tiles").setAttribute("aria-pressed", String(name === "tiles"));
}

byId("to-list").addEventListener("click", () => view("list"));
byId("to-tiles").addEventListener("click", () => view("tiles"));
view("list");
fill(byId("legend"), ["busy", "waits", "stands", "calm", "dark"].map((light) =>
  h("span", { data: { light } }, h("b", { class: "sign", "aria-hidden": "true" }, lightSign(light)), say(`light.${light}`))),
h("span", { data: { light: "waits", taken: "yes" } }, h("b", { class: "sign", "aria-hidden": "true" }, "→"), say("light.going")),
h("span", null, h("small", { class: "sign", "aria-hidden": "true" }, "8"), say("hall.level")));

keys([
  ["ArrowDown", say("keys.down"), () => list.move(1)],
  ["ArrowUp", say("keys.up"), () => list.move(-1)],
  ["Home", say("keys.first"), () => list.move(-Infinity)],
  ["Enter", say("keys.open"), () => false], // a link opens by itself
  ["t", say("keys.take"), () => (list.focused() ? list.press(list.focused()) : false)],
  ["/", say("keys.find"), () => search.focus()],
  ["v", say("keys.tiles"), () => view(main.dataset.view === "list" ? "tiles" : "list")],
]);
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    search.value = "";
    order();
  } else if (event.key !== "ArrowDown" && event.key !== "Enter") return;
  event.preventDefault();
  list.move(-Infinity);
});

setInterval(() => {
  if (document.hidden) return;
  list.tick();
  clocks.tick();
}, 1000);

listen("/stream/hall", news, top.stale);
