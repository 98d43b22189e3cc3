// Who gave an order, in words: a person, and the role that the key is named after.

import { say, sayable } from "./words.mjs";

/**
 * Return who gave an order: 李娜 (referee) → 李娜（裁判员）.
 * A console's key has the console's name before its role: 李娜 (Hall-1-referee) → 李娜（Hall-1 裁判员）.
 */
export function byWhom(by) {
  const [, name, key] = String(by ?? "").match(/^([^()]+) \(([^()]+)\)$/) ?? [];
  return name ? say("by.person", { name, role: keyWord(key) }) : keyWord(by);
}

function keyWord(key) {
  const [, console, role] = String(key ?? "").match(/^(?:(.+)-)?(\w+)$/) ?? [];
  if (!sayable(`role.${role}`)) return key;
  return console ? `${console} ${say(`role.${role}`)}` : say(`role.${role}`);
}
