// Who gave an order, in words: a person, and the role that his key is named after.

import { say, sayable } from "./words.mjs";

/** Who gave an order, with the role his key is named after: 李娜 (referee) → 李娜（裁判员）. */
export function byWhom(by) {
  const [, person, key] = String(by ?? "").match(/^(.+) \((\w+)\)$/) ?? [];
  const [name, role] = person ? [person, key] : ["", by];
  const word = sayable(`role.${role}`) ? say(`role.${role}`) : role;
  return name ? say("by.person", { name, role: word }) : word;
}
