// The score sheet as the paper form that referees know. It shows only what the table sent.

import { cardText } from "./cards.mjs";
import { data, h } from "./dom.mjs";
import { SEATS, SIDES } from "./seats.mjs";
import { hasText, language, pairText, say, textOf } from "./words.mjs";

const DIGITS = 16;

/** Draw a sheet (`SheetPageView` of the console). `slot(signer)` may fill a free signature line. */
export function drawPaperSheet({ sheet, provisional, corrected }, slot = () => null) {
  const bigTwo = sheet.game === "bigtwo";
  return h("article", { class: "paper", lang: language === "zh" ? "zh-CN" : "en" },
    h("h2", null, say(bigTwo ? "sheet.bigtwo" : "sheet.guandan")),
    meeting(sheet),
    pairs(sheet),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": say("sheet.deals") }, bigTwo ? hands(sheet) : deals(sheet)),
    between(sheet, corrected),
    h("div", { class: "end" }, result(sheet, provisional), signatures(sheet, slot), versions(sheet)));
}

/** Return the text that identifies a sheet on each of its pages. */
export function sheetFooterText(sheet) {
  return say("sheet.foot", {
    event: sheet.event, round: sheet.round, match: sheet.match_no, table: sheet.table_no,
    version: sheet.version, head: sheet.head.slice(0, DIGITS),
  });
}

/** Return the name of a signer: a side, a seat, the referee. */
export function signerText(signer) {
  if (hasText(`side.${signer}`)) return say(`side.${signer}`);
  return hasText(`seat.${signer}`) ? say(`seat.${signer}`) : say(`sheet.signer.${signer}`);
}

function fact(label, value, wide = false) {
  return h("div", { class: wide ? "wide" : null }, h("dt", null, label), h("dd", null, value));
}

function meeting(sheet) {
  const { rules } = sheet;
  const named = [textOf(rules, "title"), textOf(rules, "event")].filter(Boolean).join(" · ");
  const took = sheet.start_ms !== null && sheet.end_ms !== null ? ` (${playedTimeText(sheet.end_ms - sheet.start_ms)})` : "";
  return h("dl", { class: "meeting" },
    fact(say("sheet.event"), sheet.event, true),
    fact(say("sheet.round"), sheet.round),
    fact(say("sheet.match"), sheet.match_no),
    fact(say("sheet.table"), sheet.table_no === sheet.table ? sheet.table : `${sheet.table_no} (${sheet.table})`),
    fact(say("sheet.stage"), say(`sheet.stage.${sheet.stage}`)),
    fact(say("sheet.start"), moment(sheet.start_at)),
    fact(say("sheet.end"), moment(sheet.end_at) + took),
    fact(say("sheet.rules"), h("span", null, named, h("small", { title: rules.name }, ` ${rules.hash.slice(0, DIGITS)}`)), true));
}

function pairs(sheet) {
  const row = (side) => {
    const pair = sheet.pairs[side];
    const players = SEATS.filter((seat) => side.includes(seat));
    return h("tr", null,
      h("th", { scope: "row" }, say(`side.${side}`)),
      h("td", null, pair.id),
      h("td", null, pair.name),
      players.map((seat) => h("td", null, h("b", null, `${say(`seat.${seat}`)} `), pair.players[seat] ?? "—")));
  };
  return h("table", { class: "pairs" },
    h("thead", null, h("tr", null,
      ["side", "pair", "name"].map((key) => h("th", { scope: "col" }, say(`sheet.${key}`))),
      h("th", { scope: "col", colspan: 2 }, say("sheet.player")))),
    h("tbody", null, SIDES.map(row)));
}

// The deals.

const COLUMNS = ["deal", "level", "up", "second", "third", "last", "gain", "ns", "ew"];

function deals(sheet) {
  const points = sheet.deals.some((line) => line.points && (line.points.NS || line.points.EW));
  const heads = [...COLUMNS, ...(points ? ["points"] : []), "tribute", "returns", "remarks"];
  return h("table", { class: "deals" },
    h("thead", null,
      h("tr", { class: "each-page" }, h("td", { colspan: heads.length }, sheetFooterText(sheet))),
      h("tr", null, heads.map((key) => h("th", { scope: "col", data: { col: key } }, say(`sheet.${key}`))))),
    h("tbody", null,
      sheet.deals.map((line) => labelled(deal(line, points), heads)),
      sheet.deals.length ? null : h("tr", null, h("td", { colspan: heads.length, class: "none" }, say("sheet.nothing")))));
}

/** Add its heading to each cell of a row, because a telephone has no room for the table head. */
function labelled(row, heads) {
  heads.forEach((key, at) => data(row.children[at], "label", say(`sheet.${key}`)));
  return row;
}

function deal(line, points) {
  const levels = line.levels ?? {};
  const places = [0, 1, 2, 3].map((at) => line.outcome.order[at]);
  const cell = (value, key) => h("td", { data: { col: key } }, value ?? "—");
  return h("tr", { class: line.counts ? null : "void" },
    h("th", { scope: "row" }, line.deal, line.corrected ? h("abbr", { title: say("sheet.corrected") }, "*") : null),
    cell(line.level, "level"),
    places.map((seat) => cell(seat ? say(`sheet.seat.${seat}`) : null, "place")),
    cell(line.gain === null ? null : line.gain < 0 ? String(line.gain).replace("-", "−") : `+${line.gain}`, "gain"),
    cell(levels.NS, "ns"),
    cell(levels.EW, "ew"),
    points ? cell(line.points ? `${line.points.NS} : ${line.points.EW}` : null, "points") : null,
    cell(line.anti ? say("sheet.anti") : passed(line.tribute), "tribute"),
    cell(passed(line.returns), "returns"),
    h("td", { data: { col: "remarks" } }, penalties(line), remarks(line).join(say("sheet.and"))));
}

function passed(cards) {
  if (!cards.length) return null;
  return cards.map((one) => h("span", { class: "passed" }, say("sheet.passed", {
    giver: say(`sheet.seat.${one.giver}`), to: say(`sheet.seat.${one.to}`), card: givenCard(one),
  })));
}

/** Return a card of tribute or return, or the reason why it is missing. */
function givenCard(one) {
  if (one.card !== null) return cardText(one.card);
  return say(one.secret ? "sheet.hidden" : "sheet.untold");
}

function penalties(line) {
  return line.penalties.map((one) => h("span", { class: one.overturned ? "penalty overturned" : "penalty" },
    `${signerText(one.seat ?? one.side)} ${textOf(one, "penalty")}${one.article ? ` ${one.article}` : ""} `,
    one.overturned ? h("b", null, `(${say("sheet.overturned")}) `) : null));
}

function remarks(line) {
  const seat = (one) => say(`sheet.named.${one}`);
  const lost = line.outcome.forfeited_by;
  return [
    line.counts ? null : say("sheet.void"),
    lost ? say("sheet.forfeits", { side: say(`side.${lost}`) }) : null,
    line.written ? say("sheet.written", { ns: line.written.NS, ew: line.written.EW }) : null,
    line.turned_up ? say("sheet.turned-up", { card: cardText(line.turned_up) }) : null,
    line.leader ? say("sheet.leads", { seat: seat(line.leader) }) : null,
    line.cut !== null && line.cutter ? say("sheet.cut", { seat: seat(line.cutter), n: line.cut }) : null,
    line.uncut ? say("sheet.uncut") : null,
    line.by_hand ? say("sheet.by-hand") : null,
    line.extra ? say("sheet.extra") : null,
    line.misdeals ? say("sheet.misdeals", { n: line.misdeals }) : null,
    ...line.dead.map((one) => say("sheet.dead", { seat: seat(one) })),
  ].filter(Boolean);
}

function hands(sheet) {
  const signed = (n) => (n > 0 ? `+${n}` : String(n).replace("-", "−"));
  const row = (line) => h("tr", null,
    h("th", { scope: "row" }, line.deal),
    SEATS.map((seat) => h("td", null, `${line.left[seat]} (${signed(line.scores[seat])})`)),
    SEATS.map((seat) => h("td", null, signed(line.totals[seat]))),
    h("td", { data: { col: "remarks" } }, [
      say("sheet.leads", { seat: say(`sheet.named.${line.leader}`) }),
      line.opened.length ? say("sheet.opened", { seats: named(line.opened) }) : null,
      line.doubled.length ? say("sheet.doubled", { seats: named(line.doubled) }) : null,
      line.uncut ? say("sheet.uncut") : null,
      line.by_hand ? say("sheet.by-hand") : null,
      line.misdeals ? say("sheet.misdeals", { n: line.misdeals }) : null,
    ].filter(Boolean).join(say("sheet.and"))));
  return h("table", { class: "deals" },
    h("thead", null,
      h("tr", { class: "each-page" }, h("td", { colspan: 10 }, sheetFooterText(sheet))),
      h("tr", null, h("th", { rowspan: 2 }, say("sheet.deal")), h("th", { colspan: 4 }, say("sheet.left")),
        h("th", { colspan: 4 }, say("sheet.total")), h("th", { rowspan: 2, data: { col: "remarks" } }, say("sheet.remarks"))),
      h("tr", null, [0, 1].map(() => SEATS.map((seat) => h("th", { scope: "col" }, say(`sheet.seat.${seat}`)))))),
    h("tbody", null, sheet.hands.map(row),
      sheet.hands.length ? null : h("tr", null, h("td", { colspan: 10, class: "none" }, say("sheet.nothing")))));
}

// The lines below the deals.

/** Return the names of seats. Only table columns use their letters. */
function named(seats) {
  return seats.map((one) => say(`sheet.named.${one}`)).join(say("sheet.between-seats"));
}

function between(sheet, corrected) {
  const outcome = ({ order, forfeited_by: lost }) =>
    lost ? say("sheet.forfeits", { side: say(`side.${lost}`) }) : named(order);
  const stands = ({ confirmed }) => (confirmed ? say("sheet.and") + pairText(confirmed) : "");
  const list = (title, lines) => lines.length ? h("section", null, h("h3", null, title), h("ul", null, lines)) : null;
  return h("div", { class: "between" },
    list(say("sheet.corrections"), sheet.corrections.map((one, at) => h("li", null, say("sheet.correction", {
      deal: one.deal, was: outcome(one.was), now: outcome(one.now), choice: say(`sheet.choice.${one.choice}`),
      by: pairText(corrected[at].by), reason: pairText(corrected[at].reason) + stands(corrected[at]),
    })))),
    list(say("sheet.notes"), sheet.notes.map((note) => h("li", null, textOf(note)))));
}

const POINTS = [["match_points", "match_points"], ["level_points", "level_points"], ["deal_points", "deal_points"], ["total", "total_points"]];

function result(sheet, provisional) {
  const sides = (numbers) => SIDES.map((side) => h("span", { class: "of-side" }, `${say(`side.${side}`)} `, h("b", null, numbers[side])));
  const { verdict, score } = sheet;
  const won = verdict ? `${verdict.winner ? `${say(`side.${verdict.winner}`)} ` : ""}(${textOf(verdict, "how")})` : say("sheet.open");
  const guessed = provisional.length ? h("i", { class: "provisional" }, say("sheet.provisional")) : null;
  return h("dl", { class: "result" },
    sheet.levels ? fact(say("sheet.levels"), sides(sheet.levels)) : null,
    fact(say("sheet.verdict"), h("b", null, won)),
    sheet.totals ? fact(say("sheet.total"), SEATS.map((seat) => h("span", { class: "of-side" }, `${say(`sheet.seat.${seat}`)} `, h("b", null, sheet.totals[seat])))) : null,
    score ? POINTS.filter(([key]) => score[key]).map(([key, words]) =>
      fact(say(`sheet.${words}`), [sides(score[key]), score.provisional.some((name) => RESTS[key].includes(name)) ? guessed?.cloneNode(true) : null])) : null,
    provisional.length ? h("div", { class: "wide" }, h("dd", { class: "provisional" },
      say("sheet.provisional-keys", { keys: provisional.map(pairText).join(say("sheet.and")) }))) : null);
}

const RESTS = { // the keys of the rulebook that a number depends on
  match_points: ["score.match_points"],
  level_points: ["score.level_points", "score.forfeit_keeps"],
  deal_points: [],
  total: ["score.total", "score.match_points"],
};

function signatures(sheet, slot) {
  const line = (one) => h("div", { class: "signature" },
    h("span", null, signerText(one.signer), one.duty ? say(`sheet.duty.${one.duty}`) : null),
    h("span", { class: "line" }, one.person === null ? slot(one.signer) : say("sheet.signed", { person: one.person })));
  return h("section", { class: "signatures", "aria-label": say("sheet.signatures") },
    h("h3", null, say("sheet.signatures")), sheet.signatures.map(line));
}

function versions(sheet) {
  const who = (one) => one.signatures.map((name) => `${signerText(name.signer)} ${name.person}`).join(say("sheet.and")) || say("sheet.unsigned");
  return h("footer", { class: "versions" },
    sheet.versions.map((one) => h("p", null, say("sheet.version-line", { version: one.version, rows: one.rows, who: who(one) }))),
    h("p", { class: "on-paper" }, sheetFooterText(sheet)),
    h("p", null, `${say("sheet.head")} `, h("code", null, sheet.head.slice(0, DIGITS))));
}

/** Return the time of a stamp as people write it. */
function moment(stamp) {
  if (!stamp) return "—";
  const at = new Date(stamp);
  if (Number.isNaN(at.getTime())) return stamp;
  const two = (n) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

function playedTimeText(ms) {
  const minutes = Math.floor(ms / 60000);
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
}
