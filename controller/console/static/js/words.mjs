// The words of a page, Chinese first, chosen by the person.
//
// A page teaches its own words (words/NAME.mjs: {key: [zh, en]}) and says them by key. Whoever
// changes the language gets the page anew: what must last stands in the address or is kept.

import common from "../words/common.mjs";
import { keep, kept } from "./kept.mjs";

const known = new Map();
/** What stands in words for a value: {name}, or {name|of one|of many}. */
const HOLES = /\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g;

/** Add the words of a page. A key has one meaning: to teach it twice otherwise is a mistake. */
export function teach(words) {
  for (const [key, pair] of Object.entries(words)) {
    const before = known.get(key);
    if (before && (before[0] !== pair[0] || before[1] !== pair[1])) {
      throw new Error(`two meanings of "${key}"`);
    }
    known.set(key, pair);
  }
  dress(document);
}

/** The language of this page: "zh" or "en". */
export const language = kept("language") ?? (navigator.language.startsWith("en") ? "en" : "zh");

/** Change the language of this browser; the page is loaded anew where it is another one. */
export function setLanguage(wanted) {
  if (wanted === language || !["zh", "en"].includes(wanted)) return;
  keep("language", wanted);
  if (kept("language") === wanted) location.reload();
}

/** Say the words of `key`, with {name} replaced by `values.name`; {n|table|tables} goes by how many. */
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

/** Whether there are words for `key`: for names that a newer table may send. */
export function sayable(key) {
  return known.has(key);
}

/** Take the Chinese or English of a value that carries both: `both(row, "phase")` → phase_zh. */
export function both(value, stem = "") {
  if (!value) return "";
  const names = stem ? [`${stem}_zh`, `${stem}_en`] : ["zh", "en"];
  const [first, second] = language === "zh" ? names : names.reverse();
  return value[first] || value[second] || "";
}

/** Take the one of this page's language of words as the console sends them: [English, Chinese]. */
export function pairWords([en, zh]) {
  return language === "zh" ? zh : en;
}

/** Fill [data-say] (text), [data-say-label] (aria-label) and [data-say-hint] (placeholder). */
export function dress(root) {
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
teach(common);
