// The texts of a page in Chinese and English. The person chooses the language.
//
// A page adds its texts with `addTexts` (words/NAME.mjs: {key: [zh, en]}) and reads them by key. After
// a change of the language the page is loaded again. The address or the storage keeps its state.

import common from "../words/common.mjs";
import { storedValue, storeValue } from "./storage.mjs";

const known = new Map();
/** The variables in a text: {name}, or {name|text for one|text for many}. */
const HOLES = /\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g;

/** Add the texts of a page. Throws if a key already has another text. */
export function addTexts(words) {
  for (const [key, pair] of Object.entries(words)) {
    const before = known.get(key);
    if (before && (before[0] !== pair[0] || before[1] !== pair[1])) {
      throw new Error(`two meanings of "${key}"`);
    }
    known.set(key, pair);
  }
  fillTexts(document);
}

/** The language of this page: "zh" or "en". */
export const language = storedValue("language") ?? (navigator.language.startsWith("en") ? "en" : "zh");

/** Change the language of this browser. If it differs, the page is loaded again. */
export function setLanguage(wanted) {
  if (wanted === language || !["zh", "en"].includes(wanted)) return;
  storeValue("language", wanted);
  if (storedValue("language") === wanted) location.reload();
}

/** Return the text of `key`. {name} is replaced by `values.name`; {n|table|tables} depends on n. */
export function say(key, values = {}) {
  const pair = known.get(key);
  if (!pair) {
    console.error(`no words for "${key}"`);
    return key;
  }
  return pair[language === "zh" ? 0 : 1].replace(HOLES, (whole, name, one, many) => {
    if (!(name in values)) return whole;
    if (many !== undefined) return Number(values[name]) === 1 ? one : many;
    return String(values[name] ?? "");
  });
}

/** Return true if `key` has a text. A newer table may send unknown names. */
export function hasText(key) {
  return known.has(key);
}

/** Return the Chinese or English text of a value with both: `textOf(row, "phase")` → phase_zh. */
export function textOf(value, stem = "") {
  if (!value) return "";
  const names = stem ? [`${stem}_zh`, `${stem}_en`] : ["zh", "en"];
  const [first, second] = language === "zh" ? names : names.reverse();
  return value[first] || value[second] || "";
}

/** Return the text in this page's language from a pair of the console: [English, Chinese]. */
export function pairText([en, zh]) {
  return language === "zh" ? zh : en;
}

/** Fill [data-say] (text), [data-say-label] (aria-label) and [data-say-hint] (placeholder). */
export function fillTexts(root) {
  for (const node of root.querySelectorAll("[data-say]")) {
    if (known.has(node.dataset.say)) node.textContent = say(node.dataset.say);
  }
  for (const node of root.querySelectorAll("[data-say-label]")) {
    if (known.has(node.dataset.sayLabel)) {
      node.setAttribute("aria-label", say(node.dataset.sayLabel));
    }
  }
  for (const node of root.querySelectorAll("[data-say-hint]")) {
    if (known.has(node.dataset.sayHint)) node.placeholder = say(node.dataset.sayHint);
  }
}

document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
addTexts(common);
