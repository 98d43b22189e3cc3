// The matches of the event: played, signed, and the record of each.

import { get } from "./api.mjs";
import { eventLines, runVerifier } from "./verifier.mjs";
import { byId, fill, h, shown, text } from "./dom.mjs";
import { compareNames } from "./compare-names.mjs";
import { makeShell } from "./shell.mjs";
import { addTexts, language, say, textOf } from "./words.mjs";
import words from "../words/history.mjs";

addTexts(words);
document.title = say("history.title");

const top = makeShell({ title: say("history.title"), help: say("history.help") });
const asked = new URLSearchParams(location.search);
const fields = { event: byId("event"), round: byId("round"), state: byId("state"), find: byId("find") };
/** The number of matches at first. The archive of a season is long. */
const MOST = 200;
let most = MOST;
let all = [];

async function read() {
  try {
    all = (await get("/api/history")).matches;
  } catch (error) {
    top.tell(error.message, "bad");
    return;
  }
  options(fields.event, [...new Set(all.map((one) => one.event))].sort(compareNames), asked.get("event"));
  options(fields.round, [...new Set(all.map((one) => one.round))].sort((a, b) => a - b).map(String), asked.get("round"));
  fields.state.value = asked.get("state") ?? "";
  if (!fields.find.value) fields.find.value = asked.get("find") ?? "";
  draw();
  const wanted = asked.get("match");
  const one = wanted && all.find((line) => line.match === wanted && (!asked.get("table") || line.table === asked.get("table")));
  asked.delete("match"); // open it once, not again after the next reading
  if (one) open(one);
}

function options(select, values, wanted) {
  fill(select, h("option", { value: "" }, say("history.any")), values.map((value) => h("option", { value }, value)));
  select.value = values.includes(wanted) ? wanted : "";
}

function filterMatches() {
  const needle = fields.find.value.trim().toLowerCase();
  return all.filter((one) =>
    (!fields.event.value || one.event === fields.event.value) &&
    (!fields.round.value || String(one.round) === fields.round.value) &&
    (!fields.state.value || one.state === fields.state.value) &&
    (!needle || searchText(one).includes(needle)));
}

function searchText(one) {
  const pairs = Object.values(one.pairs).flatMap((pair) => [pair.id, pair.name, ...pair.players]);
  return [one.match, one.table, one.table_no, ...pairs].join(" ").toLowerCase();
}

function draw() {
  const found = filterMatches();
  text(byId("count"), say("history.count", { n: found.length }));
  const none = h("tr", null, h("td", { colspan: 8 }, say(all.length ? "history.none" : "history.empty")));
  fill(byId("rows"), found.length ? found.slice(0, most).map(row) : none);
  shown(byId("rest"), found.length > most);
  text(byId("rest"), say("history.rest", { n: found.length - most }));
  keepPlace();
}

/** Write the choices and the open match into the address. */
function keepPlace(one = null) {
  const query = new URLSearchParams();
  for (const [name, field] of Object.entries(fields)) if (field.value) query.set(name, field.value);
  if (one) for (const name of ["table", "match"]) query.set(name, one[name]);
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
}

function row(one) {
  const pair = (side) => (one.pairs[side] ? `${nameOf(one.pairs[side])}` : say(`side.${side}`));
  const marks = [
    one.version > 1 ? say("history.version", { n: one.version }) : "",
    one.corrections ? say("history.corrected", { n: one.corrections }) : "",
    one.penalties ? say("history.penalised", { n: one.penalties }) : "",
  ].filter(Boolean).join(" · ");
  const cell = (name, ...inside) => h("td", { data: { name } }, h("div", null, inside));
  return h("tr", { data: { state: one.state } },
    cell(say("history.match"), h("b", null, place(one)), h("small", null, one.event)),
    cell(say("history.table"), one.table_no, one.table_no === one.table ? null : h("small", null, one.table)),
    cell(say("history.pairs"), h("span", null, pair("NS")), ` ${say("history.versus")} `, h("span", null, pair("EW"))),
    cell(say("history.levels"), one.levels ? `${one.levels.NS ?? "—"} : ${one.levels.EW ?? "—"}` : "—", h("small", null, say("history.deals-n", { n: one.deals }))),
    cell(say("history.result"), result(one)),
    cell(say("history.points"), points(one)),
    cell(say("history.signed"), h("span", { class: one.state === "signed" ? "good" : one.state === "over" ? "wait" : "quiet" },
      say(`history.state.${one.state}`)), one.signers && one.state !== "open" ? h("small", null, say("history.of", { n: one.signed, all: one.signers })) : null,
      marks ? h("small", null, marks) : null),
    h("td", { class: "acts" },
      h("a", { class: "button plain small", href: sheetAddress(one) }, say("history.sheet")),
      h("button", { type: "button", class: "plain small", onclick: () => open(one) }, say("history.proofs"))));
}

function place(one) {
  return say("history.place", { round: one.round, match: one.match_no });
}

function nameOf(pair) {
  return `${pair.id} ${pair.name}`;
}

function result(one) {
  if (!one.verdict) return h("span", { class: "quiet" }, say("history.open"));
  const won = one.verdict.winner ? say("history.wins", { side: say(`side.${one.verdict.winner}`) }) : "";
  return [won, h("small", null, textOf(one.verdict, "how"))];
}

function points(one) {
  if (!one.score) return "—";
  const of = (numbers) => (numbers ? `${numbers.NS} : ${numbers.EW}` : null);
  const told = [of(one.score.match_points), of(one.score.level_points) ?? of(one.score.total)].filter(Boolean).join(" / ");
  return [told || "—", one.score.provisional.length ? h("small", { class: "wait" }, say("history.provisional")) : null];
}

function sheetAddress(one) {
  return one.kept_ms === null
    ? `/table/${encodeURIComponent(one.table)}/sheet`
    : `/sheets/${encodeURIComponent(one.match)}?${new URLSearchParams({ table: one.table })}`;
}

// One match: its attempts, its record, and the check of the whole record.

async function open(one) {
  const box = byId("match");
  const at = `${encodeURIComponent(one.table)}`;
  const name = encodeURIComponent(one.match);
  const list = h("ul", { class: "attempts" });
  const out = h("p", { role: "status" });
  const check = h("button", { type: "button", class: "go", onclick: () => checkMatch(one, out, list) }, say("history.check"));
  fill(byId("inside"),
    h("h2", null, `${one.event} · ${place(one)} · ${say("history.table-no", { no: one.table_no })}`),
    h("p", { class: "acts" }, check, h("a", { class: "button plain", href: `/api/tables/${at}/record/${name}`, download: true }, say("history.record")),
      h("a", { class: "button plain", href: sheetAddress(one) }, say("history.sheet"))),
    out, list);
  if (!box.open) box.showModal();
  keepPlace(one); // after a visit to a proof the match is open again
  try {
    const { attempts } = await get(`/api/tables/${at}/attempts/${name}`);
    fill(list, attempts.length ? attempts.map((each) => attempt(one, each)) : h("li", null, say("history.no-attempts")));
  } catch (error) {
    text(out, error.message);
  }
}

function attempt(one, { deal, of_deal: nth, attempt: number, revealed }) {
  const place = `/proof/${encodeURIComponent(one.table)}/${number}`;
  return h("li", { data: { attempt: number } },
    h("a", { href: place }, say("history.attempt", { deal, attempt: nth })),
    h("span", { class: "grade" }, revealed ? "" : say("history.later")));
}

async function checkMatch(one, out, list) {
  text(out, say("history.checking"));
  const answer = await fetch(`/api/tables/${encodeURIComponent(one.table)}/record/${encodeURIComponent(one.match)}`);
  if (!answer.ok) {
    text(out, say("history.no-attempts"));
    return;
  }
  const events = eventLines(await answer.text());
  const hashes = new Set(events.filter((row) => row.kind === "committed").map((row) => row.data.profile_hash));
  const { rulebooks } = await get(`/api/proof/rulebooks?${new URLSearchParams([...hashes].map((hash) => ["hash", hash]))}`);
  const { report, ms } = await runVerifier(events, rulebooks);
  const findings = [...report.findings, ...report.attempts.flatMap((each) => each.findings)];
  text(out, say("history.checked", {
    n: events.length, attempts: report.attempts.length, ms: Math.round(ms),
    what: findings.length ? say("history.findings", { n: findings.length }) : say("history.holds"),
  }));
  out.dataset.findings = findings.length;
  for (const each of report.attempts) {
    const line = list.querySelector(`[data-attempt="${each.attempt}"] .grade`);
    if (!line) continue;
    const grade = each.findings.length ? "bad" : each.missing.length ? "lacking" : each.grade ?? "none";
    text(line, say(`history.grade.${grade}`));
    line.className = `grade ${grade === "bad" ? "bad" : ["hands", "sequence"].includes(grade) ? "good" : "quiet"}`;
  }
  if (report.findings.length) list.append(h("li", { class: "bad" }, report.findings[0]));
}

// All results in one file, with one row for each match.

function csv() {
  const plain = (cell) => {
    const said = String(cell ?? "");
    const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(said) && !/^-?\d+$/.test(said) ? `'${said}` : said;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const heads = ["event", "round", "match", "table"].map((name) => say(`history.${name}`));
  const more = ["NS", "EW"].flatMap((side) => [say(`side.${side}`), ""]);
  const rows = filterMatches().map((one) => [
    one.event, one.round, one.match_no, one.table_no,
    ...["NS", "EW"].flatMap((side) => [one.pairs[side]?.id, one.pairs[side]?.name]),
    one.levels?.NS, one.levels?.EW, one.verdict?.winner ? say(`side.${one.verdict.winner}`) : "", one.verdict ? textOf(one.verdict, "how") : "",
    one.score?.match_points?.NS, one.score?.match_points?.EW, one.score?.level_points?.NS, one.score?.level_points?.EW,
    one.score?.total?.NS, one.score?.total?.EW, one.deals, say(`history.state.${one.state}`),
  ]);
  const of = (name) => ["NS", "EW"].map((side) => `${say(`side.${side}`)} ${say(`history.${name}`)}`);
  const head = [...heads, ...more, ...of("levels"), say("history.result"), "", ...of("match-points"), ...of("level-points"), ...of("total-points"),
    say("history.deals"), say("history.state")];
  const body = `\ufeff${[head, ...rows].map((line) => line.map(plain).join(",")).join("\r\n")}\r\n`;
  const link = h("a", { href: URL.createObjectURL(new Blob([body], { type: "text/csv;charset=utf-8" })), download: `results-${language}.csv` });
  link.click();
  URL.revokeObjectURL(link.href);
}

for (const field of Object.values(fields)) {
  field.addEventListener("input", () => {
    most = MOST;
    draw();
  });
}
byId("rest").addEventListener("click", () => {
  most = Infinity;
  draw();
});
byId("again").addEventListener("click", read);
byId("csv").addEventListener("click", csv);
byId("match").addEventListener("close", () => keepPlace());
byId("match").addEventListener("click", (event) => {
  if (event.target === byId("match")) byId("match").close();
});
get("/api/me").then(top.me, () => null);
read();
