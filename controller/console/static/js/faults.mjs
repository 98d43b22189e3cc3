// The meanings of faults from the catalogue. A page requests them once.

import { get } from "./api.mjs";
import { language, textOf } from "./words.mjs";

const known = new Map();

/** Request the meanings. Until they arrive, a fault is shown by its name. */
export async function loadFaults() {
  for (const [name, words] of Object.entries(await get("/api/faults"))) known.set(name, words);
}

/** Return the meanings of faults in one line. */
export function faultText(names) {
  return names.map((name) => (known.has(name) ? textOf(known.get(name)) : name)).join(language === "zh" ? "、" : ", ");
}
