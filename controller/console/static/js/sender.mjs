// The sender of a command in words: a person, and the role from the name of the key.

import { hasText, say } from "./words.mjs";

/**
 * Return the sender of a command: 李娜 (referee) → 李娜（裁判员）.
 * The name of a console's key also has the console's name: 李娜 (Hall-1-referee) → 李娜（Hall-1 裁判员）.
 */
export function senderText(by) {
  const [, name, key] = String(by ?? "").match(/^([^()]+) \(([^()]+)\)$/) ?? [];
  return name ? say("by.person", { name, role: roleOfKey(key) }) : roleOfKey(by);
}

function roleOfKey(key) {
  const [, console, role] = String(key ?? "").match(/^(?:(.+)-)?(\w+)$/) ?? [];
  if (!hasText(`role.${role}`)) return key;
  return console ? `${console} ${say(`role.${role}`)}` : say(`role.${role}`);
}
