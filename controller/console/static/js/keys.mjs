// The help under "?": the purpose of a page, and its keys.

import { showMessage } from "./dialog.mjs";
import { h } from "./dom.mjs";
import { say } from "./words.mjs";

const listed = [];
let about = "";
const CAPS = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Enter: "↵ Enter", " ": "␣" };

/** Add keys of this page: [[key, words, act]…]; `key` as in KeyboardEvent.key.
 *
 * No key acts while a person types or a question is open, nor with Ctrl, Alt or Meta.
 */
export function addKeys(table) {
  listed.push(...table);
}

function typing(node) {
  return node instanceof HTMLElement && (node.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(node.tagName));
}

/** Set the first words of this page's help. */
export function setHelpText(words) {
  about = words;
}

/** Show the purpose of the page, the meaning of its marks, and its keys. */
export function showHelp() {
  return showMessage({
    title: say("help.title"),
    text: about,
    more: [
      h("p", { class: "said" }, say("help.orders")),
      h("h3", null, say("keys.title")),
      h("dl", { class: "keys" }, [...listed, ["?", say("help.title")]].map(([key, words]) => [
        h("dt", null, h("kbd", null, CAPS[key] ?? key)), h("dd", null, words),
      ])),
    ],
  });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  if (typing(event.target) && event.key !== "Escape") return;
  if (event.key === "?") {
    event.preventDefault();
    showHelp();
    return;
  }
  const found = listed.find(([key]) => key === event.key);
  if (found && found[2](event) !== false) event.preventDefault();
});
