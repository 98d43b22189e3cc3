// Texts of a table's row, for lists, tiles and the wall.

import { clockStopText } from "./area-stop.mjs";
import { durationText, now, timeOfDay } from "./time.mjs";
import { say, textOf } from "./words.mjs";

/** Return the name that people use for the table: its number in the event, else its id. */
export function tableLabel(row) {
  return row.table_no ?? row.table;
}

/** Return the id of the area's table with this number or id; null if there is none. */
export function findTable(rows, area, name) {
  const wanted = name.toLowerCase();
  const found = [...rows.values()].filter((row) => row.area === area);
  return (found.find((row) => row.table.toLowerCase() === wanted) ?? found.find((row) => row.table_no === name))?.table ?? null;
}

/** Return true if the known state of a table is its present state. */
export function isCurrent(row) {
  return row.standing === "live";
}

/** Return the freshness of a silent table in words, and since when. */
export function freshnessText(row) {
  return say(`standing.${row.standing}`, { time: timeOfDay(row.since_ms) });
}

/** Return the milliseconds left of the match; null if its table shows no clock. */
export function remainingMs(row) {
  if (row.ends_ms !== null && row.ends_ms !== undefined) return row.ends_ms - now();
  return row.left_s === null || row.left_s === undefined ? null : row.left_s * 1000;
}

/** Return the time left of the match in words; "" without a clock. */
export function remainingText(row) {
  const left = remainingMs(row);
  return left === null ? "" : say("row.left", { left: durationText(left) });
}

/** Return a pair in short form: its name and number. */
function pair(row, side) {
  const one = row.pairs?.[side];
  if (!one) return "–";
  return one.name === one.id || !one.id ? one.name : say("row.pair", { name: one.name, id: one.id });
}

/** Return 南北 对 东西 with the pairs' numbers; "" before a match is set up. */
function pairsText(row) {
  if (!row.pairs?.NS && !row.pairs?.EW) return "";
  return say("row.versus", { ns: pair(row, "NS"), ew: pair(row, "EW") });
}

/** Return the levels of both sides, as 8:5; "" if there are none. */
function levelsText(row) {
  const { NS, EW } = row.levels ?? {};
  return NS || EW ? say("row.levels", { ns: NS ?? "–", ew: EW ?? "–" }) : "";
}

/** Return the phase in words; during dealing with the number of cards fed. */
export function phaseText(row) {
  if (row.suspended) return say("row.suspended");
  const phase = textOf(row, "phase");
  const running = row.machine === "dealing" && row.fed > 0 && row.fed < 108;
  return running ? `${phase} ${say("row.dealt", { fed: row.fed })}` : phase;
}

/** Return all facts of a row except phase and clock. */
export function rowFacts(row) {
  return [
    [row.round && say("row.round", { round: row.round }), row.match_no && say("row.match", { match: row.match_no })]
      .filter(Boolean).join(" "),
    pairsText(row),
    levelsText(row),
    row.level ? say("row.level", { level: row.level }) : "",
    row.deal ? say("row.deal", { deal: row.deal }) : "",
    row.added_s ? say("row.added", { span: durationText(row.added_s * 1000) }) : "",
    clockStopText(row),
    row.mode === "test" ? say("row.test") : "",
  ].filter(Boolean);
}

/** Return one reason of a wait in words: the seat and the reason. */
export function reasonText(reason) {
  const words = textOf(reason, "words");
  const seat = reason.seat ? say(`seat.${reason.seat}`) : "";
  // The words of a call often begin with the seat.
  if (!seat || words.includes(seat)) return words;
  return say("row.at-seat", { seat, words });
}

/** Return why a table waits in words; for a silent table also since when. */
export function waitReasonText(row, reason) {
  return reason.name === row.standing ? freshnessText(row) : reasonText(reason);
}
