// A table's row in words: what of it stands in lists, tiles and on the wall.

import { stopWords } from "./area-stop.mjs";
import { now, ofDay, span } from "./time.mjs";
import { both, say } from "./words.mjs";

/** What people call the table: its number in the event, else its name. */
export function number(row) {
  return row.table_no ?? row.table;
}

/** The id of an area's table that people call `name`, by its number or its id; null: of none. */
export function tableOf(rows, area, name) {
  const wanted = name.toLowerCase();
  const found = [...rows.values()].filter((row) => row.area === area);
  return (found.find((row) => row.table.toLowerCase() === wanted) ?? found.find((row) => row.table_no === name))?.table ?? null;
}

/** Whether what is known of a table is its present. */
export function live(row) {
  return row.standing === "live";
}

/** How it stands with a table that is not heard, and since when. */
export function standingWords(row) {
  return say(`standing.${row.standing}`, { time: ofDay(row.since_ms) });
}

/** Milliseconds left of the match; null: its table shows no clock. */
export function leftMs(row) {
  if (row.ends_ms !== null && row.ends_ms !== undefined) return row.ends_ms - now();
  return row.left_s === null || row.left_s === undefined ? null : row.left_s * 1000;
}

/** What is left of the match, in words; empty without a clock. */
export function leftWords(row) {
  const left = leftMs(row);
  return left === null ? "" : say("row.left", { left: span(left) });
}

/** A pair in short: its name and number. */
function pair(row, side) {
  const one = row.pairs?.[side];
  if (!one) return "–";
  return one.name === one.id || !one.id ? one.name : say("row.pair", { name: one.name, id: one.id });
}

/** 南北 对 东西, with the pairs' numbers; empty before a match is laid out. */
function pairsWords(row) {
  if (!row.pairs?.NS && !row.pairs?.EW) return "";
  return say("row.versus", { ns: pair(row, "NS"), ew: pair(row, "EW") });
}

/** The sides' levels, as 8:5; empty where there are none. */
function levelsWords(row) {
  const { NS, EW } = row.levels ?? {};
  return NS || EW ? say("row.levels", { ns: NS ?? "–", ew: EW ?? "–" }) : "";
}

/** The phase in words; while cards run, with how many have. */
export function phaseWords(row) {
  if (row.suspended) return say("row.suspended");
  const phase = both(row, "phase");
  const running = row.machine === "dealing" && row.fed > 0 && row.fed < 108;
  return running ? `${phase} ${say("row.dealt", { fed: row.fed })}` : phase;
}

/** All facts of a row but phase and clock. */
export function facts(row) {
  return [
    [row.round && say("row.round", { round: row.round }), row.match_no && say("row.match", { match: row.match_no })]
      .filter(Boolean).join(" "),
    pairsWords(row),
    levelsWords(row),
    row.level ? say("row.level", { level: row.level }) : "",
    row.deal ? say("row.deal", { deal: row.deal }) : "",
    row.added_s ? say("row.added", { span: span(row.added_s * 1000) }) : "",
    stopWords(row),
    row.mode === "test" ? say("row.test") : "",
  ].filter(Boolean);
}

/** One reason of a wait in words: who, and what. */
export function reasonWords(reason) {
  const words = both(reason, "words");
  const seat = reason.seat ? say(`seat.${reason.seat}`) : "";
  // A call's words often begin with the seat already.
  if (!seat || words.includes(seat)) return words;
  return say("row.at-seat", { seat, words });
}

/** Why a table waits, in words; of one that is not heard, also since when. */
export function whyWords(row, reason) {
  return reason.name === row.standing ? standingWords(row) : reasonWords(reason);
}
