// The page of a score sheet: the present one of a table (/table/ID/sheet), or a stored one
// (/sheets/MATCH).

import { get } from "./api.mjs";
import { askValues } from "./dialog.mjs";
import { byId, data, fill, h, shown, text } from "./dom.mjs";
import { makeCommandButton, updateCommandButtons } from "./command-button.mjs";
import { drawPaperSheet, sheetFooterText, signerText } from "./paper.mjs";
import { makeShell } from "./shell.mjs";
import { listen } from "./stream.mjs";
import { timeOfDay } from "./time.mjs";
import { addTexts, say } from "./words.mjs";
import words from "../words/sheet.mjs";

addTexts(words);

const SIGNING = ["referee", "chief"];
const AGAIN_MS = 400;
/** The time after which an unanswered request is repeated. */
const RETRY_MS = 2000;
const top = makeShell({ title: say("sheet.title"), help: say("sheet.help") });
const place = /^\/table\/([^/]+)\/sheet$/.exec(location.pathname);
const table = place ? decodeURIComponent(place[1]) : null;
const asked = new URLSearchParams(location.search);
const buttons = new Map();
let me = null;
let match = null;
let shownView = null;

function address() {
  if (table) return `/api/tables/${encodeURIComponent(table)}/sheet`;
  const name = location.pathname.slice("/sheets/".length);
  return `/api/sheets/${name}?${asked}`;
}

function csvAddress(language) {
  if (table && !shownView.kept_ms) return `${address()}.csv?language=${language}`;
  const of = shownView.sheet;
  const which = new URLSearchParams({ format: "csv", language, table: of.table, version: of.version });
  return `/api/sheets/${encodeURIComponent(of.match)}?${which}`;
}

let reads = 0;

async function read() {
  reads += 1;
  const mine = reads;
  try {
    const view = await get(address());
    if (mine === reads) draw(view); // otherwise a newer request is running
  } catch (error) {
    if (mine === reads) unread(error);
  }
}

/** Show that the sheet may be outdated. Repeat the request if the console does not answer. */
function unread(error) {
  if (!shownView) fill(byId("sheet"), h("p", { class: "panel" }, error.message));
  else text(byId("standing"), `${say("sheet.old")} ${error.message}`);
  data(byId("standing"), "old", shownView ? "yes" : null);
  if (error.status === 0 || error.status >= 500) soon(RETRY_MS);
}

function draw(view) {
  shownView = view;
  const { sheet } = view;
  fill(byId("sheet"), drawPaperSheet(view, (signer) => (view.kept_ms ? null : signButton(sheet, signer))));
  document.title = sheetFooterText(sheet);
  const signed = sheet.signatures.filter((one) => one.person !== null).length;
  data(byId("standing"), "old", null);
  text(byId("standing"), view.kept_ms
    ? say("sheet.kept", { time: `${new Date(view.kept_ms).toLocaleDateString()} ${timeOfDay(view.kept_ms)}`, signed })
    : say("sheet.live"));
  const language = document.documentElement.lang.startsWith("zh") ? "zh" : "en";
  byId("csv").href = csvAddress(language);
  byId("proofs").href = `/history?match=${encodeURIComponent(sheet.match)}&table=${encodeURIComponent(sheet.table)}`;
  byId("back").href = `/table/${encodeURIComponent(sheet.table)}`;
  shown(byId("tools"), true);
  fill(byId("kept"), keptVersions(view));
}

function keptVersions(view) {
  const { sheet } = view;
  const kept = view.kept.filter((one) => one.table === sheet.table);
  return sheet.versions.map((one) => {
    const there = kept.filter(({ version }) => version === one.version).at(-1);
    const here = view.kept_ms === null && one.version === sheet.version;
    const link = there && !here ? `/sheets/${encodeURIComponent(sheet.match)}?${new URLSearchParams({
      table: there.table, version: there.version, signed: there.signed,
    })}` : null;
    const label = say("sheet.version", { version: one.version });
    if (here || (view.kept_ms !== null && one.version === sheet.version)) return h("b", { class: "version" }, label, here ? ` · ${say("sheet.present")}` : null);
    return link ? h("a", { class: "button version", href: link }, label) : h("span", { class: "version quiet" }, `${label} · ${say("sheet.not-kept")}`);
  });
}

// Signing: one button for each free line, made once for each version of the sheet.

function signButton(sheet, signer) {
  if (!table || sheet.state === "open" || !me || !SIGNING.includes(me.role)) return null;
  const key = `${sheet.match} ${sheet.version} ${signer}`;
  if (!buttons.has(key)) buttons.set(key, madeButton(sheet, signer));
  return buttons.get(key).node;
}

function madeButton(sheet, signer) {
  const as = signerText(signer);
  return makeCommandButton({
    table,
    cmd: "sign",
    label: say("sheet.sign"),
    kind: "go",
    args: async () => {
      const values = await askValues({ title: say("sheet.sign-as", { signer: as }), text: say("sheet.sign-hint"), fields: signerFields(sheet, signer),
        check: (one) => (one.person || one.other ? "" : say("sheet.sign-who")) });
      // The version on the page: the table refuses a signature for another version.
      return values && { signer, person: values.other || values.person, version: sheet.version };
    },
    confirm: ({ person }) => ({
      title: say("sheet.sign-sure", { person, signer: as }), text: say("sheet.sign-text"), yes: say("sheet.sign"), danger: true,
    }),
    after: () => soon(),
  });
}

function signerFields(sheet, signer) {
  if (signer === "referee") return [{ name: "person", kind: "text", label: say("sheet.sign-who"), value: me.name, required: true, max: 64 }];
  const pair = Object.entries(sheet.pairs).find(([side]) => side.includes(signer) || side === signer)[1];
  const players = signer.length === 1 ? [pair.players[signer]] : Object.values(pair.players);
  const known = [...new Set(players.filter(Boolean))];
  if (!known.length) return [{ name: "person", kind: "text", label: say("sheet.sign-who"), required: true, max: 64 }];
  return [
    { name: "person", kind: "choice", label: say("sheet.sign-who"), choices: known.map((name) => [name, name]) },
    { name: "other", kind: "text", label: say("sheet.sign-other"), max: 64 },
  ];
}

// The deal with an unconfirmed result.

const confirmButton = table && makeCommandButton({
  table,
  cmd: "confirm",
  label: say("sheet.confirm"),
  kind: "go",
  deal: () => match?.deal ?? null,
  attempt: () => match?.attempt ?? null,
  confirm: () => ({
    title: say("sheet.confirm-sure", { deal: match.deal }), text: say("sheet.confirm-text"), yes: say("sheet.confirm"), danger: true,
  }),
  after: () => soon(),
});

function waiting() {
  const waits = match?.phase === "result" && me && SIGNING.includes(me.role);
  shown(byId("waiting"), waits);
  if (waits) text(byId("waits"), say("sheet.waits", { deal: match.deal }));
}

let due = null;

function soon(after_ms = AGAIN_MS) {
  clearTimeout(due);
  due = setTimeout(read, after_ms);
}

/** Return a text that changes when a state may change the sheet. */
function mark(state) {
  const { match: id, phase, deal, version, signed, verdict, rulings, levels } = state.match;
  return JSON.stringify([id, phase === "result" || phase, deal, version, signed, verdict, rulings, levels]);
}

if (table) {
  byId("confirm").append(confirmButton.node);
  let last = null;
  listen(`/stream/table/${encodeURIComponent(table)}`, (changed) => {
    updateCommandButtons(changed);
    if (changed.me) {
      me = changed.me;
      top.me(me);
    }
    if (changed.state) {
      match = changed.state.match;
      const now = mark(changed.state);
      if (now !== last) soon();
      last = now;
    } else if (changed.me && shownView) draw(shownView);
    if (changed.offers) confirmButton.offer(changed.offers.find?.((one) => one.cmd === "confirm") ?? null);
    waiting();
  }, top.stale);
} else {
  get("/api/me").then(top.me, () => null);
}
byId("print").addEventListener("click", () => print());
read();
