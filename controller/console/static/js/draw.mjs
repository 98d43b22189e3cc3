// The draw: a CSV file is checked by the console, shown, and then sent to the tables one by one.

import { get, postText } from "./api.mjs";
import { askConfirmation } from "./dialog.mjs";
import { byId, data, fill, h, shown, text } from "./dom.mjs";
import { storedValue, storeValue } from "./storage.mjs";
import { refusalText } from "./command-button.mjs";
import { makeShell } from "./shell.mjs";
import { timeOfDay } from "./time.mjs";
import { addTexts, language, say, textOf } from "./words.mjs";
import words from "../words/history.mjs";

addTexts(words);

const top = makeShell({ title: say("draw.title"), help: say("draw.help") });
let file = null;
let draw = null;
let sending = false;

async function start() {
  get("/api/me").then(top.me, () => null);
  byId("event").value = storedValue("draw.event", "");
  byId("example").href = `/api/draw/example.csv?language=${language}`;
  byId("example-other").href = `/api/draw/example.csv?language=${language === "zh" ? "en" : "zh"}`;
  const { columns } = await get("/api/draw/columns");
  fill(byId("columns"), columns.map((one) => h("tr", null,
    h("th", { scope: "row" }, `${one.zh} / ${one.en}`),
    h("td", null, one.needed ? h("b", null, say("draw.needed")) : say("draw.optional")),
    h("td", null, one.about[language === "zh" ? 1 : 0]))));
  const areas = await areasOf();
  fill(byId("area"), h("option", { value: "*" }, say("draw.all-areas")), areas.map((name) => h("option", { value: name }, name)));
}

async function areasOf() {
  const told = await get("/api/areas").catch(() => []);
  const list = Array.isArray(told) ? told : (told.areas ?? []);
  return list.map((one) => (typeof one === "string" ? one : one.area));
}

async function chooseFile(chosen) {
  if (!chosen || sending) return;
  // The file is read now, because it may change later.
  file = { name: chosen.name, body: await chosen.arrayBuffer() };
  await check();
}

async function check() {
  if (!file) return;
  storeValue("draw.event", byId("event").value);
  text(byId("read"), say("draw.reading"));
  try {
    draw = await postText(address(), file.body);
  } catch (error) {
    draw = null;
    text(byId("read"), error.message);
    show();
    return;
  }
  text(byId("read"), draw.encoding ? say("draw.read-as", { name: file.name, n: draw.matches.length, encoding: draw.encoding.toUpperCase() }) : file.name);
  show();
}

function address(digest = "") {
  const query = new URLSearchParams({ event: byId("event").value.trim() });
  if (digest) query.set("digest", digest);
  return `/api/draw/${encodeURIComponent(byId("area").value)}?${query}`;
}

function show() {
  const faults = draw?.faults ?? [];
  const matches = draw?.matches ?? [];
  shown(byId("wrong"), faults.length);
  text(byId("wrong-title"), say("draw.faults", { n: faults.length }));
  fill(byId("faults"), faults.map((one) => h("tr", null, h("td", null, one.line), h("td", null, textOf(one, "column")), h("td", null, textOf(one)))));
  shown(byId("shown"), matches.length);
  fill(byId("rows"), matches.map(row));
  byId("send").disabled = !matches.length || sending;
  text(byId("send"), say("draw.send", { n: matches.length }));
  text(byId("result"), "");
}

function row(one) {
  const pair = (side) => {
    const { id, name, players } = one.pairs[side];
    const seats = side === "NS" ? ["N", "S"] : ["E", "W"];
    const who = seats.filter((seat) => players[seat]).map((seat) => `${say(`seat.${seat}`)} ${players[seat]}`).join("  ");
    return cell(say(`side.${side}`), h("b", null, `${id} `), name, h("small", null, who),
      one.brought[side] ? h("small", { class: "wait" }, say("draw.brought", { n: one.brought[side] })) : null);
  };
  const now = one.here ? h("span", { class: "good" }, say("draw.here"))
    : one.busy ? h("span", { class: "bad" }, say("draw.busy", { match: one.now })) : textOf(one, "now") || say("draw.silent");
  return h("tr", { data: { table: one.table } },
    cell(say("draw.table"), h("b", null, one.table_no), h("small", null, one.table)),
    cell(say("draw.match"), `${one.round} – ${one.match_no}`, h("small", null, say(`draw.stage.${one.stage}`))),
    pair("NS"), pair("EW"),
    cell(say("draw.now"), now),
    h("td", { data: { name: say("draw.fate") }, class: "fate", role: "status" }, ""));
}

function cell(name, ...inside) {
  return h("td", { data: { name } }, h("div", null, inside));
}

async function send() {
  const busy = draw.matches.filter((one) => one.busy).length;
  const lines = [say("draw.sure-text"), busy ? say("draw.sure-busy", { n: busy }) : ""].filter(Boolean).join("\n");
  if (!(await askConfirmation({ title: say("draw.sure", { n: draw.matches.length }), text: lines, yes: say("draw.send", { n: draw.matches.length }), danger: true }))) return;
  sending = true;
  byId("send").disabled = true;
  for (const cell of byId("rows").querySelectorAll(".fate")) text(cell, say("draw.sending"));
  try {
    const { tables } = await postText(address(draw.digest), file.body);
    showFates(tables);
  } catch (error) {
    for (const cell of byId("rows").querySelectorAll(".fate")) text(cell, "");
    top.tell(error.message, "bad");
  }
  sending = false;
  byId("send").disabled = false;
}

function showFates(tables) {
  let done = 0;
  for (const [table, what] of Object.entries(tables)) {
    const cell = byId("rows").querySelector(`[data-table="${CSS.escape(table)}"] .fate`);
    const [kind, said] = fateText(what);
    if (kind === "good") done += 1;
    cell.className = `fate ${kind}`;
    text(cell, said);
  }
  const bad = Object.keys(tables).length - done;
  text(byId("result"), say("draw.result", { done, bad }));
  byId("result").className = bad ? "bad" : "good";
  if (bad) text(byId("send"), say("draw.again"));
}

function fateText(what) {
  if (what.error) return ["bad", say("draw.refused", { why: textOf(what.error) })];
  const his = what.person && { person: what.person, time: timeOfDay(what.at_ms) };
  if (what.unknown) return ["wait", his ? say("draw.unknown-of", his) : say("draw.unknown")];
  if (!what.reply.ok) return ["bad", say("draw.refused", { why: refusalText(what.reply.error) })];
  return ["good", his ? say("draw.done-by", his) : say("draw.done")];
}

const dropArea = byId("drop");
byId("file").addEventListener("change", (event) => {
  chooseFile(event.target.files[0]);
  event.target.value = ""; // allows the same file to be chosen again
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  dropArea.addEventListener(kind, (event) => {
    event.preventDefault();
    data(dropArea, "over", kind === "dragover" ? "yes" : null);
    if (kind === "drop") chooseFile(event.dataTransfer.files[0]);
  });
}
byId("send").addEventListener("click", send);
byId("area").addEventListener("change", check);
byId("event").addEventListener("change", check);
start().catch((error) => top.tell(error.message, "bad"));
