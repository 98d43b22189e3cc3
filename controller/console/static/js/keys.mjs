// Keys of a page, and the list of them under "?".

import { told } from "./dialog.mjs";
import { h } from "./dom.mjs";
import { say } from "./words.mjs";

const listed = [];
const CAPS = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Enter: "↵ Enter", " ": "␣" };

/** Let keys do something: [[key, words, act]…]; `key` as KeyboardEvent.key has it.
 *
 * No key acts while something is typed or a question is open, nor with Ctrl, Alt or Meta.
 */
export function keys(table) {
  listed.push(...table);
}

function typing(node) {
  return node instanceof HTMLElement && (node.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(node.tagName));
}

/** Show what keys there are. */
export function showKeys() {
  return told({
    title: say("keys.title"),
    more: h("dl", { class: "keys" }, [...listed, ["?", say("keys.title")]].map(([key, words]) => [
      h("dt", null, h("kbd", null, CAPS[key] ?? key)), h("dd", null, words),
    ])),
  });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  if (typing(event.target) && event.key !== "Escape") return;
  if (event.key === "?") {
    event.preventDefault();
    showKeys();
    return;
  }
  const found = listed.find(([key]) => key === event.key);
  if (found && found[2](event) !== false) event.preventDefault();
});
