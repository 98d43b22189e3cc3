// What the names of faults mean, as the catalogue has it: asked for once a page.

import { get } from "./api.mjs";
import { both, language } from "./words.mjs";

const known = new Map();

/** Ask for the words; until they are there a fault is called by its name. */
export async function learnFaults() {
  for (const [name, words] of Object.entries(await get("/api/faults"))) known.set(name, words);
}

/** Faults in words, in one line. */
export function faultWords(names) {
  return names.map((name) => (known.has(name) ? both(known.get(name)) : name)).join(language === "zh" ? "、" : ", ");
}
