// New waits, announced by voice and sound. Taken tables and other people's areas are left out.

import { reasonText, tableLabel } from "../rows.mjs";
import { beep } from "../sound.mjs";
import { say } from "../words.mjs";

const URGENT = 2;

function keyOf(wait) {
  return `${wait.table} ${wait.reasons[0].name} ${wait.reasons[0].since_ms}`;
}

/** Return a name for the news of a wait, the same on all pages: wait, chief's mark, given up by. */
export function waitNewsKey(wait, givenBy = "") {
  return [keyOf(wait), wait.chiefs ? "chiefs" : "", givenBy].filter(Boolean).join(" ");
}

export class Newcomers {
  /** `voice(words, {urgent})` announces words. `near(area)`: true for an area of this person. */
  constructor(voice, near) {
    this.voice = voice;
    this.near = near;
    this.known = null;
  }

  /** Compare the waits with the earlier ones in `before`, by table, and announce the new ones. */
  draw(told, before, rows, me) {
    const fresh = told.map((wait) => [wait, this.said(wait, before.get(wait.table), rows.get(wait.table), me)])
      .filter(([, said]) => said);
    const first = this.known === null;
    this.known = new Set(told.map(keyOf));
    if (first || !fresh.length) return;
    const urgent = fresh.some(([wait]) => wait.reasons[0].rank <= URGENT);
    this.voice(fresh.map(([, said]) => said).join(" "), { urgent });
    beep(urgent ? 4 : 2, fresh.map(([wait]) => waitNewsKey(wait, before.get(wait.table)?.taken_by)));
  }

  /** Return the announcement of a wait, or "" if it is not new for this person. */
  said(wait, before, row, me) {
    if (!row) return "";
    const table = tableLabel(row);
    if (wait.chiefs && me?.role === "chief" && !before?.chiefs) return say("voice.chiefs", { table });
    if (wait.taken_by || !this.near(row.area)) return "";
    const words = reasonText(wait.reasons[0]);
    if (this.known && !this.known.has(keyOf(wait))) return say("voice.new", { table, words });
    const given = before?.taken_by && before.taken_by !== me?.name;
    return given ? say("voice.back", { table, words }) : "";
  }
}
