// The page of a deal's proof. Any telephone can check the proof and show the result in plain words.

import { cardText, LEVELS, SUITS } from "./cards.mjs";
import { runVerifier } from "./verifier.mjs";
import { byId, data, fill, h, shown, text } from "./dom.mjs";
import { findingText } from "./findings.mjs";
import { storeValue } from "./storage.mjs";
import { SEATS } from "./seats.mjs";
import { addTexts, hasText, language, say, setLanguage } from "./words.mjs";
import words from "../words/proof.mjs";

addTexts(words);
document.title = say("proof.title");

const SHOWN_STEPS = ["committed", "cut", "shuffled", "held", "verdict", "released", "withdrawn", "recalled", "revealed", "sealed_to_chief", "record"];
const AGAIN_MS = 5000;
const [table, attempt] = location.pathname.split("/").slice(2, 4).map(decodeURIComponent);
const asked = new URLSearchParams(location.search);
const large = asked.has("large");

async function read() {
  let view;
  try {
    const answer = await fetch(`/api/tables/${encodeURIComponent(table)}/proof/${attempt}`, { headers: { Accept: "application/json" } });
    view = await answer.json();
    if (!answer.ok) throw new Error(view.error?.[language] ?? String(answer.status));
  } catch (error) {
    verdict("wait", "…", say("proof.away"), error.message);
    setTimeout(read, AGAIN_MS);
    return;
  }
  if (view.standing === "later" || view.standing === "unknown") {
    verdict("wait", "◔", say(view.standing === "later" ? "proof.later" : "proof.unknown"), view.standing === "later" ? say("proof.later-text") : "");
    if (view.standing === "later") setTimeout(read, AGAIN_MS);
    return;
  }
  await show(view);
}

async function show(view) {
  const rows = view.events.filter((row) => row.attempt === Number(attempt));
  const steps = Object.fromEntries([...rows].reverse().map((row) => [row.kind, row]));
  const deal = steps.committed?.deal ?? rows[0]?.deal;
  text(byId("where"), deal === undefined || deal === null ? say("proof.where-short", { table, attempt }) : say("proof.where", { table, deal, attempt }));
  verdict("wait", "…", say("proof.checking"), "");
  code(view);
  fill(byId("steps"), SHOWN_STEPS.filter((kind) => kind in steps).map((kind) => step(steps[kind], steps)));
  shown(byId("story"), true);
  try {
    const { report, ms } = await runVerifier(view.events, view.rulebooks);
    showResult(view, report, ms, steps);
  } catch (error) {
    verdict("wait", "?", say("proof.partial"), say("proof.failed", { why: error.message }));
  }
}

/** Show the result, and its meaning in one sentence. */
function showResult(view, report, ms, steps) {
  const own = report.attempts.find((one) => one.attempt === Number(attempt));
  const findings = [...(own?.findings ?? []), ...report.findings];
  const missing = own ? own.missing : ["committed"];
  const gave = own?.outcome === "ok" && !steps.withdrawn && !steps.recalled;
  const meaning = gave ? say(`proof.grade.${own.grade ?? "sequence"}`) : say("proof.grade.given-up");
  if (findings.length) verdict("bad", "✕", say("proof.bad"), findingText(findings[0]).plain);
  else if (view.standing === "sealed") verdict("wait", "?", say("proof.partial"), say("proof.sealed"));
  else if (missing.length || !own.grade) {
    verdict("wait", "?", say("proof.partial"), say("proof.missing", { steps: missing.map(stepWords).join(" · ") }));
  } else verdict("good", "✓", say("proof.good"), meaning);
  data(document.body, "verdict", findings.length ? "bad" : own?.grade ?? "none");
  text(byId("by"), say("proof.by", { n: view.events.length, ms: Math.round(ms) }));
  shown(byId("no-rules"), !view.rulebooks.length);
  fill(byId("found"), grouped(findings).map(([plain, own]) => h("li", null, plain, own.length > 1 ? ` ×${own.length}` : null,
    own.slice(0, 3).map((line) => h("small", { lang: "en" }, line)),
    own.length > 3 ? h("details", null, h("summary", null, `+${own.length - 3}`), own.slice(3).map((line) => h("small", { lang: "en" }, line))) : null)));
  shown(byId("findings"), findings.length);
  for (const each of own?.verdicts ?? []) reason(each);
  if (own?.sequence) sequence(own.sequence);
  if (own?.sequence && steps.record?.data.hands && gave && !findings.length) hands(own.sequence, steps.record.data.hands);
  technical(view, steps);
}

/** Group findings by their meaning: one exchanged seed puts a hundred cards into wrong places. */
function grouped(findings) {
  const by = new Map();
  for (const { plain, line } of findings.map(findingText)) by.set(plain, [...(by.get(plain) ?? []), line]);
  return [...by];
}

function verdict(kind, sign, title, meaning) {
  data(byId("verdict"), "kind", kind);
  text(byId("sign"), sign);
  text(byId("said"), title);
  text(byId("meaning"), meaning);
}

// The steps.

function stepWords(kind) {
  return hasText(`proof.step.${kind}`) ? say(`proof.step.${kind}`) : kind;
}

function step(row, steps) {
  const said = (STEP_TEXTS[row.kind] ?? (() => say(`proof.say.${row.kind}`)))(row.data, steps);
  return h("li", { data: { kind: row.kind } },
    h("h3", null, stepWords(row.kind), h("time", { datetime: row.time }, ofDay(row.time))),
    h("p", null, said),
    row.kind === "committed" ? h("code", null, row.data.commitment) : null,
    row.kind === "committed" && steps.cut && secondsBetween(row, steps.cut) > 0 ? h("small", null, say("proof.fixed", { lead: intervalText(row, steps.cut) })) : null);
}

const STEP_TEXTS = {
  cut: ({ cut, reason: why }) => (cut === null ? say("proof.say.uncut", { why }) : say("proof.say.cut", { n: cut })),
  shuffled: ({ passes }) => say("proof.say.shuffled", { n: passes }),
  verdict: ({ outcome, landed, reasons }) => (outcome === "ok" ? say("proof.say.ok", landed) : say("proof.say.given-up", { reasons: reasonsWords(reasons) })),
  released: ({ leader, turned_up: turned }) => [
    say("proof.say.released"),
    turned && leader ? say("proof.say.led", { card: cardText(turned), seat: say(`seat.${leader}`) }) : "",
  ].join(language === "zh" ? "" : " "),
  withdrawn: ({ reasons }) => say("proof.say.withdrawn", { reasons: reasonsWords(reasons) }),
  recalled: ({ reasons }) => say("proof.say.recalled", { reasons: reasonsWords(reasons) }),
};

function reasonsWords(reasons) {
  return reasons.map(reasonWords).join(language === "zh" ? "、" : ", ");
}

function reasonWords(name) {
  return hasText(`proof.reason.${name}`) ? say(`proof.reason.${name}`) : name;
}

function reason({ reason: name, says }) {
  const kind = byId("steps").querySelector("[data-kind=recalled], [data-kind=withdrawn]") ?? byId("steps").querySelector("[data-kind=verdict]");
  kind?.append(h("small", null, `${reasonWords(name)}: ${say(`proof.reason.says.${says.replace(" ", "-")}`)}`));
}

function secondsBetween(first, second) {
  return Math.max(0, Math.round((new Date(second.time) - new Date(first.time)) / 1000));
}

/** Return the time between two stamps of the table in words. */
function intervalText(first, second) {
  const s = secondsBetween(first, second);
  return s < 60 ? say("time.seconds", { s }) : say("time.minutes", { m: Math.floor(s / 60), s: s % 60 });
}

function ofDay(stamp) {
  const at = new Date(stamp);
  const two = (n) => String(n).padStart(2, "0");
  return Number.isNaN(at.getTime()) ? "" : `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

// The cards.

function faceWords(face) {
  if (face >= 52) return say(face === 52 ? "card.SJ" : "card.BJ");
  return SUITS[Math.floor(face / 13)] + LEVELS[face % 13];
}

function hands(order, hex) {
  const faces = hex.match(/../g).map((pair) => parseInt(pair, 16));
  const height = (face) => (face >= 52 ? 100 + face : (face % 13) * 4 + Math.floor(face / 13));
  fill(byId("hands"), SEATS.map((seat) => {
    const own = faces.filter((_, place) => order[place] === seat).sort((a, b) => height(b) - height(a));
    return h("section", null, h("h3", null, `${say(`seat.${seat}`)} `, h("small", null, own.length)),
      h("p", { class: "cards" }, own.map((face) => h("span", {
        class: "face", data: { red: face < 52 && [1, 3].includes(Math.floor(face / 13)) ? "yes" : face === 53 ? "yes" : null },
      }, faceWords(face)))));
  }));
  shown(byId("opened"), true);
}

function sequence(order) {
  text(byId("sequence-title"), say("proof.sequence", { n: order.length }));
  fill(byId("sequence"), [...order].map((seat, place) => h("li", { data: { seat } }, h("span", null, place + 1), say(`seat.${seat}`)[0])));
  shown(byId("ordered"), true);
}

function technical(view, steps) {
  const { committed, held, revealed } = steps;
  const pair = (label, value) => (value ? [h("dt", null, label), h("dd", null, h("code", null, value))] : null);
  fill(byId("facts"),
    pair(say("proof.commitment"), committed?.data.commitment),
    pair(say("proof.seed"), revealed?.data.seed),
    pair(say("proof.hands-hash"), held?.data.hands),
    pair(say("proof.rules-hash"), committed?.data.profile_hash),
    pair(say("proof.heads"), view.heads.map(([n, head]) => `${n} ${head}`).join("\n")));
  byId("data").href = `/api/tables/${encodeURIComponent(table)}/proof/${attempt}?format=events`;
  shown(byId("technical"), true);
}

/** Return the console's page that the person came from, for the way back; "" on a telephone. */
function previousPage() {
  const before = asked.get("from") ?? document.referrer;
  if (!before || !URL.canParse(before, location.origin)) return "";
  const { origin, pathname, search } = new URL(before, location.origin);
  const other = origin === location.origin && !/^\/(proof|login)\b/.test(pathname);
  return other && !pathname.startsWith("//") ? pathname + search : "";
}

function code(view) {
  shown(byId("scan"), view.over);
  shown(byId("after-play"), !view.over);
  if (view.over) {
    const place = `/proof/${encodeURIComponent(table)}/${attempt}`;
    fill(byId("code"), h("img", { src: `/qr.svg?text=${encodeURIComponent(place)}`, alt: say("proof.scan"), width: 240, height: 240 }));
  }
}

text(byId("where"), say("proof.where-short", { table, attempt }));
byId("language").addEventListener("click", () => {
  storeValue("language", language === "zh" ? "en" : "zh");
  setLanguage(language === "zh" ? "en" : "zh");
});
const from = previousPage();
byId("large").href = `?${new URLSearchParams({ ...(large ? {} : { large: "" }), ...(from ? { from } : {}) })}`;
shown(byId("back"), from);
if (from) {
  byId("back").href = from;
  text(byId("back"), from.startsWith("/table/") ? say("proof.back.table") : from.startsWith("/history") ? say("proof.back.history") : say("proof.back"));
}
text(byId("large"), say(large ? "proof.small" : "proof.large"));
data(document.body, "large", large ? "yes" : null);
read();
